#include "kernels/normalize/channel_response.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalize/channel_response.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// x / base^beta, base >= 0.
HWY_INLINE VF responded(VF x, VF base, float beta) {
  if (beta == 0.75F) {
    const VF root = hn::Sqrt(base);
    return hn::Div(x, hn::Mul(root, hn::Sqrt(root)));
  }
  if (beta == 1) return hn::Div(x, base);
  // What the product with the logarithm loses is made good: it would be multiplied by the whole power. In
  // halves of the bits (T. J. Dekker), as not all processors have a multiply-add.
  const VF logarithm = log(base), factor = constant(-beta), exponent = hn::Mul(factor, logarithm);
  const auto upper = [](VF v) HWY_ATTR {
    return hn::BitCast(F(), hn::And(hn::BitCast(I(), v), hn::Set(I(), static_cast<int32_t>(0xFFFFF000))));
  };
  const VF a = upper(factor), b = upper(logarithm), a_rest = hn::Sub(factor, a),
           b_rest = hn::Sub(logarithm, b);
  VF lost = hn::Sub(hn::Mul(a, b), exponent);
  lost = hn::Add(lost, hn::Add(hn::Mul(a, b_rest), hn::Mul(a_rest, b)));
  lost = hn::Add(lost, hn::Mul(a_rest, b_rest));
  const VF power = exp(exponent);
  const VF result = hn::Mul(x, power);
  return hn::IfThenElse(hn::Lt(hn::Abs(lost), constant(1)), hn::MulAdd(result, lost, result), result);
}

/// A plane of the result: pixels lie side by side, the window's channels `pixels` apart.
void response_plane(const ChannelResponse& n, int64_t channel, const float* x, float* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  const int64_t before = (n.size - 1) / 2, after = n.size - 1 - before;
  const int64_t first = std::max<int64_t>(0, channel - before),
                last = std::min(n.channels - 1, channel + after);
  const VF scale = constant(n.alpha / static_cast<float>(n.size)), bias = constant(n.bias);
  for (int64_t p = 0; p < n.pixels; p += lanes) {
    const auto count = static_cast<size_t>(std::min(lanes, n.pixels - p));
    const bool whole = count == hn::Lanes(F());
    VF sum = hn::Zero(F());
    for (int64_t c = first; c <= last; ++c) {
      const float* const from = x + c * n.pixels + p;
      const VF v = whole ? hn::LoadU(F(), from) : load_first(from, count);
      sum = hn::MulAdd(v, v, sum);
    }
    const float* const from = x + channel * n.pixels + p;
    const VF v = whole ? hn::LoadU(F(), from) : load_first(from, count);
    const VF result = responded(v, hn::MulAdd(scale, sum, bias), n.beta);
    float* const to = y + channel * n.pixels + p;
    whole ? hn::StoreU(result, F(), to) : store_first(result, to, count);
  }
}

/// A pixel of the result: `block` channels side by side, the next ones `stride` further.
void response_pixel(const ChannelResponse& n, int64_t stride, const float* x, float* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  const int64_t before = (n.size - 1) / 2, blocks = (n.channels + n.block - 1) / n.block;
  float squares[kMaxResponseChannels + 2 * kMaxResponseSize];
  std::fill_n(squares, before, 0.0F);
  float* const own = squares + before;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t count = std::min(n.block, n.channels - b * n.block);
    for (int64_t c = 0; c < count; ++c) own[b * n.block + c] = x[b * stride + c] * x[b * stride + c];
  }
  std::fill_n(own + n.channels, n.size + lanes, 0.0F);
  const VF scale = constant(n.alpha / static_cast<float>(n.size)), bias = constant(n.bias);
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t there = std::min(n.block, n.channels - b * n.block);
    for (int64_t c = 0; c < there; c += lanes) {
      const auto count = static_cast<size_t>(std::min(lanes, there - c));
      VF sum = hn::Zero(F());
      for (int64_t t = 0; t < n.size; ++t) sum = hn::Add(sum, hn::LoadU(F(), squares + b * n.block + c + t));
      const VF result =
          responded(load_first(x + b * stride + c, count), hn::MulAdd(scale, sum, bias), n.beta);
      store_first(result, y + b * stride + c, count);
    }
    std::fill(y + b * stride + there, y + b * stride + n.block, 0.0F);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(response_plane);
HWY_EXPORT(response_pixel);

void channel_response(const ChannelResponse& n, const float* x, float* y) noexcept {
  constexpr int64_t kGrain = 1 << 13;
  if (n.block == 1) {
    const auto run = HWY_DYNAMIC_DISPATCH(response_plane);
    const int64_t image = n.channels * n.pixels;
    parallel_for(n.images * n.channels, std::max<int64_t>(1, kGrain / n.pixels),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     run(n, i % n.channels, x + i / n.channels * image, y + i / n.channels * image);
                 });
    return;
  }
  const auto run = HWY_DYNAMIC_DISPATCH(response_pixel);
  const int64_t blocks = (n.channels + n.block - 1) / n.block, stride = n.pixels * n.block;
  parallel_for(n.images * n.pixels, std::max<int64_t>(1, kGrain / (blocks * n.block)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t at = i / n.pixels * blocks * stride + i % n.pixels * n.block;
                   run(n, stride, x + at, y + at);
                 }
               });
}

}  // namespace assay::kernels
#endif
