#include "tensor/random_weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace assay {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014): a bijection whose outputs for k, k +
/// kGolden, k + 2 kGolden, ... are a full-period random sequence.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// The start of a tensor's sequence.
uint64_t stream_key(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return mix(mix(seed + kGolden) ^ hash);
}

/// Sum of the four 16-bit fields of a word.
uint64_t sum_fields(uint64_t w) {
  constexpr uint64_t kEven = 0x0000FFFF0000FFFF;
  const uint64_t pairs = (w & kEven) + ((w >> 16) & kEven);
  return (pairs & 0xFFFFFFFF) + (pairs >> 32);
}

/// A normal number as an integer in units of 1/kNormalUnits standard deviations: eight uniform 16-bit numbers
/// summed, with twelve more fraction bits so that the values are not on a coarse grid.
int64_t draw_normal(uint64_t key, uint64_t i) {
  const uint64_t a = mix(key + (2 * i + 1) * kGolden);
  const uint64_t b = mix(key + (2 * i + 2) * kGolden);
  const uint64_t fraction = ((a ^ (b >> 32)) * kGolden) >> 52;
  constexpr int64_t kMean = 8 * 65535 * 2048 + 2048;
  return static_cast<int64_t>(((sum_fields(a) + sum_fields(b)) << 12) | fraction) - kMean;
}
/// 2^12 times the standard deviation of the sum: sqrt(8 (2^32 - 1) / 12).
constexpr double kNormalUnits = 219176632.0;

/// Fills by element index, counted from `start`, split over threads.
template <typename F>
void fill(std::span<float> out, int64_t start, F&& element) {
  parallel_for(static_cast<int64_t>(out.size()), 1 << 15, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      out[static_cast<size_t>(i)] = element(static_cast<uint64_t>(start + i));
  });
}

}  // namespace

Init Init::he_normal(int64_t fan) { return normal(std::sqrt(2.0 / static_cast<double>(fan))); }
Init Init::lecun_normal(int64_t fan) { return normal(std::sqrt(1.0 / static_cast<double>(fan))); }
Init Init::xavier_uniform(int64_t fan_in, int64_t fan_out) {
  return uniform(std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
}

Tensor random_weights(uint64_t seed, std::string_view name, Shape shape, const Init& init) {
  Tensor t = Tensor::allocate(DType::kFloat32, std::move(shape));
  fill_random_weights(seed, name, init, 0, t.mutable_span<float>());
  return t;
}

void fill_random_weights(uint64_t seed, std::string_view name, const Init& init, int64_t first,
                         std::span<float> out) {
  const uint64_t key = stream_key(seed, name);
  const auto mean = static_cast<float>(init.mean);
  // Rounding to float before the mean is added leaves no product for the compiler to fuse with the addition.
  const double per_unit = init.spread / kNormalUnits;
  switch (init.kind) {
    case Init::Kind::kConstant:
      fill(out, first, [&](uint64_t) { return mean; });
      break;
    case Init::Kind::kNormal:
      fill(out, first, [&](uint64_t i) {
        return static_cast<float>(per_unit * static_cast<double>(draw_normal(key, i))) + mean;
      });
      break;
    case Init::Kind::kTruncatedNormal:
      fill(out, first, [&](uint64_t i) {
        int64_t x = draw_normal(key, i);
        for (uint64_t k = 1; std::abs(x) > static_cast<int64_t>(2 * kNormalUnits); ++k)
          x = draw_normal(mix(key + k), i);
        return static_cast<float>(per_unit * static_cast<double>(x)) + mean;
      });
      break;
    case Init::Kind::kUniform:
      fill(out, first, [&](uint64_t i) {
        const auto x = static_cast<int64_t>(mix(key + (i + 1) * kGolden) >> 11) - (int64_t{1} << 52);
        return static_cast<float>(init.spread * 0x1p-52 * static_cast<double>(x)) + mean;
      });
      break;
  }
}

Tensor weights_without_memory(Shape shape) {
  const size_t bytes = std::max<size_t>(storage_bytes(DType::kFloat32, shape.numel()), 1);
  void* zeros = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(zeros != MAP_FAILED, ErrorCode::kInvalidArgument,
          "cannot reserve {} bytes for a tensor of shape {}", bytes, shape.str());
  return Tensor::view(
      DType::kFloat32, std::move(shape), zeros,
      std::shared_ptr<const void>(zeros, [bytes](const void* p) { munmap(const_cast<void*>(p), bytes); }));
}

}  // namespace assay
