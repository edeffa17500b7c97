#include <cmath>
#include <cstring>

#include "kernels/int8/requantize.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/requantize_function.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activations-inl.h"
#include "kernels/int8/quick_function-inl.h"
#include "kernels/int8/quotient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// From numbers to 8-bit values; NaN becomes the lower bound.
class Quantizer {
 public:
  explicit Quantizer(const Requantization& r)
      : low_(constant(r.low)),
        high_(constant(r.high)),
        divisor_(constant(r.scale)),
        inverse_(constant(inverse_of(r.scale))),
        zero_point_(constant(static_cast<float>(r.zero_point))),
        least_(constant(r.is_signed ? -128.0F : 0.0F)),
        most_(constant(r.is_signed ? 127.0F : 255.0F)) {
    // Bounds in steps: rounding keeps order.
    first_ = hn::Sub(exact(low_), zero_point_);
    last_ = hn::Sub(exact(high_), zero_point_);
    has_inverse_ = std::isfinite(inverse_of(r.scale)) && r.scale > 0;
  }

  HWY_INLINE void store(VF number, uint8_t* q) const { store_exact(number, q); }

  /// Of several vectors, `pitch` bytes apart.
  HWY_INLINE void store(const Vectors& numbers, uint8_t* q, int64_t pitch) const {
    const F f;
    const VF rounder = hn::Add(constant(kRounder), zero_point_);
    VF rounded[kTogether];
    auto apart = hn::Lt(hn::Zero(f), constant(1.0F));
    ASSAY_UNROLL
    for (size_t i = 0; i < kTogether; ++i) {
      const VF product = hn::Min(hn::Max(hn::Mul(numbers.v[i], inverse_), first_), last_);
      rounded[i] = hn::Add(product, rounder);
      apart = hn::And(apart, rounds_like_quotient(f, product, hn::Sub(rounded[i], rounder)));
    }
    if (HWY_LIKELY(has_inverse_ && hn::AllTrue(f, apart))) {
      ASSAY_UNROLL
      for (size_t i = 0; i < kTogether; ++i) store_quantized(rounded[i], q + static_cast<int64_t>(i) * pitch);
    } else {
      for (size_t i = 0; i < kTogether; ++i) store_exact(numbers.v[i], q + static_cast<int64_t>(i) * pitch);
    }
  }

 private:
  HWY_INLINE VF exact(VF x) const {
    const VF bounded = hn::Min(hn::Max(x, low_), high_);
    const VF steps = rounded_quotient(F(), bounded, divisor_, inverse_);
    return hn::Min(hn::Max(hn::Add(steps, zero_point_), least_), most_);
  }
  HWY_INLINE void store_exact(VF x, uint8_t* q) const {
    store_quantized(hn::Add(exact(x), constant(kRounder)), q);
  }

  VF low_, high_, divisor_, inverse_, zero_point_, least_, most_, first_, last_;
  bool has_inverse_;
};

/// A tensor of 8 bits that is added: null, or the first of the block.
struct Addend {
  explicit Addend(const QuantizedAddend* of)
      : x(of == nullptr ? nullptr : static_cast<const uint8_t*>(of->x)),
        pitch(of == nullptr ? 0 : of->pitch),
        flip(of != nullptr && of->is_signed ? 0x80 : 0),
        // Values of int8 are taken as if 128 were added to them.
        zero_point(of == nullptr ? 0 : of->zero_point + (of->is_signed ? 128.0F : 0.0F)),
        scale(of == nullptr ? 0 : of->scale) {}

  HWY_INLINE VF at(const uint8_t* p) const {
    const hn::RebindToSigned<F> i32;
    const hn::Rebind<uint8_t, F> narrow;
    const auto byte = hn::Xor(hn::LoadU(narrow, p), hn::Set(narrow, flip));
    const VF value = hn::ConvertTo(F(), hn::PromoteTo(i32, byte));
    return hn::Mul(hn::Sub(value, constant(zero_point)), constant(scale));
  }

  const uint8_t* x;
  int64_t pitch;
  uint8_t flip;
  float zero_point, scale;
};

/// Functions without a quicker way.
struct NoQuickFunction {
  HWY_INLINE bool takes(VF, VF) const { return false; }
  HWY_INLINE bool store(const Vectors&, uint8_t*, int64_t) const { return false; }
};

HWY_INLINE VF number_of(const int32_t* sums, VF scale, VF bias) {
  return hn::MulAdd(hn::ConvertTo(F(), hn::LoadU(hn::RebindToSigned<F>(), sums)), scale, bias);
}

/// The rows of as many columns as a vector has lanes.
template <typename Function, typename Quick>
HWY_INLINE void column_of_rows(const SumRows& from, VF scale, VF bias, Function function, const Quick& quick,
                               Addend addend, const Quantizer& quantizer, uint8_t* q, int64_t pitch) {
  constexpr auto kRows = static_cast<int64_t>(kTogether);
  const int32_t* sums = from.sums;
  const uint8_t* x = addend.x;
  const bool is_quick = x == nullptr && quick.takes(scale, bias);
  int64_t r = 0;
  for (; r + kRows <= from.rows; r += kRows, sums += kRows * from.stride, q += kRows * pitch) {
    Vectors v;
    ASSAY_UNROLL
    for (size_t i = 0; i < kTogether; ++i)
      v.v[i] = number_of(sums + static_cast<int64_t>(i) * from.stride, scale, bias);
    if (is_quick && quick.store(v, q, pitch)) continue;
    v = function(v);
    if (x != nullptr) {
      ASSAY_UNROLL
      for (size_t i = 0; i < kTogether; ++i)
        v.v[i] = hn::Add(v.v[i], addend.at(x + static_cast<int64_t>(i) * addend.pitch));
      x += kRows * addend.pitch;
    }
    quantizer.store(v, q, pitch);
  }
  for (; r < from.rows; ++r, sums += from.stride, q += pitch) {
    VF v = function(number_of(sums, scale, bias));
    if (x != nullptr) v = hn::Add(v, addend.at(x)), x += addend.pitch;
    quantizer.store(v, q);
  }
}

template <typename Function, typename Quick>
void rows_through(const SumRows& from, const QuantizedEpilogue& end, const QuantizedAddend* added,
                  Function function, const Quick& quick) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const Quantizer quantizer(end.requantization);
  auto* const q = static_cast<uint8_t*>(end.q);
  Addend addend(added);
  int64_t c = 0;
  for (; c + lanes <= from.columns; c += lanes) {
    column_of_rows({from.sums + c, from.stride, from.rows, lanes}, hn::LoadU(f, end.scale + c),
                   end.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, end.bias + c), function, quick, addend,
                   quantizer, q + c, end.pitch);
    if (addend.x != nullptr) addend.x += lanes;
  }
  const auto rest = static_cast<size_t>(from.columns - c);
  if (rest == 0) return;
  // Columns that fill no vector, row by row.
  float scales[hn::MaxLanes(F())] = {}, biases[hn::MaxLanes(F())] = {};
  std::memcpy(scales, end.scale + c, rest * sizeof(float));
  if (end.bias != nullptr) std::memcpy(biases, end.bias + c, rest * sizeof(float));
  for (int64_t r = 0; r < from.rows; ++r) {
    int32_t sums[hn::MaxLanes(F())] = {};
    uint8_t values[hn::MaxLanes(F())] = {}, results[hn::MaxLanes(F())];
    std::memcpy(sums, from.sums + r * from.stride + c, rest * sizeof(int32_t));
    Addend of_row = addend;
    if (addend.x != nullptr) {
      std::memcpy(values, addend.x + r * addend.pitch, rest);
      of_row.x = values;
    }
    column_of_rows({sums, 0, 1, lanes}, hn::LoadU(f, scales), hn::LoadU(f, biases), function, quick, of_row,
                   quantizer, results, 0);
    std::memcpy(q + r * end.pitch + c, results, rest);
  }
}

/// On several vectors what a function does to one.
#define ASSAY_OF_EACH(...) \
  [=](const auto& v) HWY_ATTR ASSAY_INLINED { return each([=](VF x) HWY_ATTR { return __VA_ARGS__; }, v); }

void requantize_through(const SumRows& from, const QuantizedEpilogue& end, const SumFunction& function) {
  const float a = function.a, b = function.b;
  const auto run = [&](auto f) { rows_through(from, end, function.addend, f, NoQuickFunction()); };
#if HWY_TARGET == HWY_AVX3
  const auto run_quickly = [&](auto f, const FunctionPieces& pieces) {
    rows_through(from, end, function.addend, f, QuickFunction(pieces, end.requantization));
  };
#else
  // Without tables in registers functions are as quick.
  const auto run_quickly = [&](auto f, int) { run(f); };
  constexpr int kGelu = 0, kGeluTanh = 0, kSilu = 0;
#endif
  switch (function.op) {
    case PointwiseOp::kClip:
      return run(ASSAY_OF_EACH(clip(x, a, b)));
    case PointwiseOp::kGelu:
      return run_quickly([](const auto& v) HWY_ATTR ASSAY_INLINED { return gelu(v); }, kGelu);
    case PointwiseOp::kGeluTanh:
      return run_quickly([](const auto& v) HWY_ATTR ASSAY_INLINED { return gelu_tanh(v); }, kGeluTanh);
    case PointwiseOp::kHardSigmoid:
      return run(ASSAY_OF_EACH(unit_ramp(x, a, b)));
    case PointwiseOp::kHardSwish:
      return run(ASSAY_OF_EACH(hard_swish(x)));
    case PointwiseOp::kLeakyRelu:
      return run(ASSAY_OF_EACH(leaky_relu(x, a)));
    case PointwiseOp::kSigmoid:
      return run([](const auto& v) HWY_ATTR ASSAY_INLINED { return sigmoid(v); });
    case PointwiseOp::kSilu:
      return run_quickly([](const auto& v) HWY_ATTR ASSAY_INLINED { return silu(v); }, kSilu);
    default:
      HWY_ASSERT(false);
  }
}

#undef ASSAY_OF_EACH

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(requantize_through);

void requantize_function(const SumRows& from, const QuantizedEpilogue& end,
                         const SumFunction& function) noexcept {
  HWY_DYNAMIC_DISPATCH(requantize_through)(from, end, function);
}

}  // namespace assay::kernels
#endif
