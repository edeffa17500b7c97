#include <fmt/format.h>

#include <cstdint>

#include "base/architecture.h"
#include "base/processor.h"

namespace assay {
namespace {

/// Bytes of the smallest line of all data caches: CTR_EL0, whose field DminLine is the logarithm of its
/// words.
uintptr_t smallest_line() noexcept {
  uint64_t types = 0;
  asm("mrs %0, ctr_el0" : "=r"(types));
  return uintptr_t{4} << (types >> 16 & 15);
}

}  // namespace

std::string architecture_name() { return "aarch64"; }

std::string processor_model() {
  return fmt::format("implementer {} part {} variant {} revision {}", processor_field("CPU implementer"),
                     processor_field("CPU part"), processor_field("CPU variant"),
                     processor_field("CPU revision"));
}

// Unlike `yield`, which most processors ignore, it waits for instructions in flight.
void pause_briefly() noexcept { asm volatile("isb" ::: "memory"); }

void flush_from_caches(const void* data, size_t bytes) noexcept {
  static const uintptr_t kLine = smallest_line();
  const auto begin = reinterpret_cast<uintptr_t>(data), end = begin + bytes;
  for (uintptr_t line = begin & ~(kLine - 1); line < end; line += kLine)
    asm volatile("dc civac, %0" ::"r"(line) : "memory");
  asm volatile("dsb ish" ::: "memory");
}

}  // namespace assay
