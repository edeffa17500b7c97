#include "fuzz/targets/feedback.h"

#include <array>
#include <bit>
#include <cstring>

namespace {

constexpr size_t kPlaces = 1 << 16, kComparisons = 1 << 8;

std::array<uint8_t, kPlaces> hits;  ///< how often each place was reached, by the hash of its address
std::array<uint8_t, kPlaces> seen;  ///< a bit for each order of magnitude that was seen
size_t reached = 0;

std::array<assay::fuzz::Comparison, kComparisons> comparisons;
size_t compared = 0;

void note(uint64_t left, uint64_t right, int bytes) {
  if (left == right || (left < 256 && right < 256)) return;
  comparisons[compared++ % kComparisons] = {left, right, bytes};
}

/// 1, 2, 3, 4-7, 8-15, ...: the order of magnitude of a count, as a bit.
uint8_t magnitude(uint8_t count) {
  if (count <= 3) return static_cast<uint8_t>(1u << (count - 1));
  return static_cast<uint8_t>(1u << (std::bit_width(count) <= 7 ? std::bit_width(count) : 7));
}

}  // namespace

namespace assay::fuzz {

void start_feedback() {
  hits.fill(0);
  compared = 0;
}

bool found_new() {
  bool found = false;
  for (size_t i = 0; i < kPlaces; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, hits.data() + i, sizeof word);
    for (size_t k = i; word != 0; ++k, word >>= 8) {
      if ((word & 255) == 0) continue;
      const uint8_t bit = magnitude(static_cast<uint8_t>(word & 255));
      if ((seen[k] & bit) != 0) continue;
      reached += seen[k] == 0 ? 1 : 0;
      seen[k] |= bit;
      found = true;
    }
  }
  return found;
}

size_t places_reached() { return reached; }

bool some_comparison(uint64_t choice, Comparison& out) {
  if (compared == 0) return false;
  out = comparisons[choice % (compared < kComparisons ? compared : kComparisons)];
  return true;
}

}  // namespace assay::fuzz

// Functions that the compiler calls with -fsanitize-coverage=trace-pc,trace-cmp.
extern "C" {

void __sanitizer_cov_trace_pc() {
  // Relative to a place in the program, so that the numbers are the same wherever it is loaded.
  const auto place = static_cast<uint64_t>(reinterpret_cast<const char*>(__builtin_return_address(0)) -
                                           reinterpret_cast<const char*>(&__sanitizer_cov_trace_pc));
  uint8_t& count = hits[(place * 0x9E3779B97F4A7C15u) >> 48];
  if (count != 255) ++count;
}
void __sanitizer_cov_trace_cmp1(uint8_t, uint8_t) {}
void __sanitizer_cov_trace_const_cmp1(uint8_t, uint8_t) {}
void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b) { note(a, b, 2); }
void __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b) { note(a, b, 2); }
void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b) { note(a, b, 4); }
void __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b) { note(a, b, 4); }
void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b) { note(a, b, 8); }
void __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b) { note(a, b, 8); }
void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t* cases) {
  // cases[0] is how many there are, cases[1] their width in bits.
  for (uint64_t i = 0; i < cases[0] && i < 16; ++i) note(value, cases[2 + i], static_cast<int>(cases[1] / 8));
}
}
