#include "kernels/convert/dequantize.h"

#include <algorithm>

#include "base/parallel.h"
#include "tensor/packed_bits.h"

namespace assay::kernels {
namespace {

/// Elements that are unpacked at a time, and that a thread takes at least.
constexpr int64_t kChunk = 512, kGrain = 1 << 15;

class Dequantizer {
 public:
  Dequantizer(const QuantizedBlocks& q, const LevelNumbers& numbers, const uint8_t* elements,
              const float* scales, const uint8_t* zeros, float* y)
      : q_(q), numbers_(numbers), elements_(elements), scales_(scales), zeros_(zeros), y_(y) {}

  /// Elements [first, first + count) with the scales index, index + step, ...
  void run(int64_t first, int64_t count, int64_t index, int64_t step) const {
    uint8_t codes[kChunk];
    for (; count > 0; first += kChunk, count -= kChunk, index += step * kChunk) {
      const int64_t n = std::min(kChunk, count);
      const uint8_t* levels = elements_ + first;
      if (q_.bits < 8) {
        unpack_bits(elements_, first, q_.bits, {codes, static_cast<size_t>(n)});
        levels = codes;
      }
      if (step == 0)
        scale_all(levels, n, scales_[index], zero_at(index), y_ + first);
      else
        for (int64_t i = 0; i < n; ++i)
          y_[first + i] = (numbers_[levels[i]] - zero_at(index + i)) * scales_[index + i];
    }
  }

 private:
  void scale_all(const uint8_t* levels, int64_t n, float scale, float zero, float* y) const {
    if (q_.bits > 4) {
      for (int64_t i = 0; i < n; ++i) y[i] = (numbers_[levels[i]] - zero) * scale;
      return;
    }
    float products[16];
    for (int i = 0; i < 1 << q_.bits; ++i) products[i] = (numbers_[static_cast<size_t>(i)] - zero) * scale;
    for (int64_t i = 0; i < n; ++i) y[i] = products[levels[i]];
  }

  float zero_at(int64_t index) const {
    if (zeros_ == nullptr) return 0;
    uint8_t code = zeros_[index];
    if (q_.bits < 8) unpack_bits(zeros_, index, q_.bits, {&code, 1});
    return numbers_[code];
  }

  const QuantizedBlocks& q_;
  const LevelNumbers& numbers_;
  const uint8_t* elements_;
  const float* scales_;
  const uint8_t* zeros_;
  float* y_;
};

/// f(run) for all runs of about this many elements, in parallel.
template <typename F>
void for_runs(int64_t count, int64_t elements, F f) {
  parallel_for(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, elements)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) f(i);
               });
}

}  // namespace

void dequantize(const QuantizedBlocks& q, const LevelNumbers& numbers, const uint8_t* elements,
                const float* scales, const uint8_t* zeros, float* y) {
  const Dequantizer d(q, numbers, elements, scales, zeros, y);
  const int64_t all = q.elements(), blocks = q.blocks();
  if (q.grid == ScaleGrid::kWhole)
    return for_runs((all + kChunk - 1) / kChunk, kChunk,
                    [&](int64_t i) { d.run(i * kChunk, std::min(kChunk, all - i * kChunk), 0, 0); });
  if (q.grid == ScaleGrid::kAxis && q.inner == 1)
    return for_runs(q.outer, q.extent, [&](int64_t o) { d.run(o * q.extent, q.extent, 0, 1); });
  if (q.grid == ScaleGrid::kAxis)
    return for_runs(q.outer * q.extent, q.inner,
                    [&](int64_t i) { d.run(i * q.inner, q.inner, i % q.extent, 0); });
  if (q.inner == 1)
    return for_runs(q.outer * blocks, q.block, [&](int64_t i) {
      const int64_t at = i % blocks * q.block;
      d.run(i / blocks * q.extent + at, std::min(q.block, q.extent - at), i, 0);
    });
  for_runs(q.outer * q.extent, q.inner, [&](int64_t i) {
    const int64_t scale = (i / q.extent * blocks + i % q.extent / q.block) * q.inner;
    d.run(i * q.inner, q.inner, scale, 1);
  });
}

}  // namespace assay::kernels
