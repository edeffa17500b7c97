#include "kernels/panel/row_epilogue.h"

#include <algorithm>
#include <limits>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/row_epilogue.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

enum class Adds : uint8_t { kNothing, kFirst, kLast };

struct RowsToEpilogue {
  int64_t rows, columns;
  const float* x;
  int64_t x_stride;
  EpilogueOperands operands;
  float* y;
  int64_t y_stride;
};

template <Adds kAdds, typename Function>
void rows_of(RowsToEpilogue p, Function function) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  const auto count = static_cast<size_t>(p.columns);
  int64_t r = 0;
  if constexpr (std::is_invocable_v<Function, Vectors>)
    if (count == lanes) {  // several rows of one vector
      constexpr auto kRows = static_cast<int64_t>(kTogether);
      const auto distance = [](int64_t stride) { return static_cast<size_t>(stride); };
      for (; r + kRows <= p.rows; r += kRows, p.x += kRows * p.x_stride, p.y += kRows * p.y_stride) {
        Vectors v = load_together(p.x, distance(p.x_stride));
        if constexpr (kAdds == Adds::kFirst)
          v = add(v, load_together(p.operands.addend, distance(p.operands.addend_stride)));
        v = function(v);
        if constexpr (kAdds == Adds::kLast)
          v = add(v, load_together(p.operands.addend, distance(p.operands.addend_stride)));
        store_together(v, p.y, distance(p.y_stride));
        if constexpr (kAdds != Adds::kNothing) p.operands.addend += kRows * p.operands.addend_stride;
      }
    }
  for (; r < p.rows; ++r, p.x += p.x_stride, p.y += p.y_stride) {
    size_t c = 0;
    if constexpr (std::is_invocable_v<Function, Vectors>)
      for (; c + kTogether * lanes <= count; c += kTogether * lanes) {
        Vectors v = load_together(p.x + c);
        if constexpr (kAdds == Adds::kFirst) v = add(v, load_together(p.operands.addend + c));
        v = function(v);
        if constexpr (kAdds == Adds::kLast) v = add(v, load_together(p.operands.addend + c));
        store_together(v, p.y + c);
      }
    for (; c + lanes <= count; c += lanes) {
      VF v = hn::LoadU(f, p.x + c);
      if constexpr (kAdds == Adds::kFirst) v = hn::Add(v, hn::LoadU(f, p.operands.addend + c));
      v = function(v);
      if constexpr (kAdds == Adds::kLast) v = hn::Add(v, hn::LoadU(f, p.operands.addend + c));
      hn::StoreU(v, f, p.y + c);
    }
    if (const size_t left = count - c; left > 0) {
      VF v = load_first(p.x + c, left);
      if constexpr (kAdds == Adds::kFirst) v = hn::Add(v, load_first(p.operands.addend + c, left));
      v = function(v);
      if constexpr (kAdds == Adds::kLast) v = hn::Add(v, load_first(p.operands.addend + c, left));
      store_first(v, p.y + c, left);
    }
    if constexpr (kAdds != Adds::kNothing) p.operands.addend += p.operands.addend_stride;
  }
}

template <typename Function>
void add_and_finish(bool adds_last, const RowsToEpilogue& p, Function function) {
  if (p.operands.addend == nullptr) return rows_of<Adds::kNothing>(p, function);
  adds_last ? rows_of<Adds::kLast>(p, function) : rows_of<Adds::kFirst>(p, function);
}

/// y = function(x) * factors + shifts, and the addend before or behind that, of numbers within bounds: with
/// other functions it is a second walk through y.
template <Adds kAdds>
void scaled_rows(RowsToEpilogue p, float low, float high, float scale, float shift) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  const auto count = static_cast<size_t>(p.columns);
  const float *factors = p.operands.factors, *shifts = p.operands.shifts, *addend = p.operands.addend;
  for (int64_t r = 0; r < p.rows; ++r, p.x += p.x_stride, p.y += p.y_stride) {
    for (size_t c = 0; c < count; c += lanes) {
      const size_t some = std::min(lanes, count - c);
      const auto load = [&](const float* from) HWY_ATTR {
        return some == lanes ? hn::LoadU(f, from + c) : load_first(from + c, some);
      };
      VF v = load(p.x);
      if constexpr (kAdds == Adds::kFirst) v = hn::Add(v, load(addend));
      v = clip(v, low, high);
      v = hn::MulAdd(v, factors == nullptr ? hn::Set(f, scale) : load(factors),
                     shifts == nullptr ? hn::Set(f, shift) : load(shifts));
      if constexpr (kAdds == Adds::kLast) v = hn::Add(v, load(addend));
      some == lanes ? hn::StoreU(v, f, p.y + c) : store_first(v, p.y + c, some);
    }
    if constexpr (kAdds != Adds::kNothing) addend += p.operands.addend_stride;
  }
}

/// y = function(x), and the addend before or behind that.
void apply_function(const EpilogueParameters& finish, const RowsToEpilogue& p) {
  const float a = finish.a, b = finish.b;
  const bool adds_last = finish.adds_last;
  switch (finish.function) {
    case PointwiseOp::kClip:
      return add_and_finish(adds_last, p, [=](VF v) HWY_ATTR { return clip(v, a, b); });
    case PointwiseOp::kGelu:
      return add_and_finish(adds_last, p, [](const auto& v) HWY_ATTR ASSAY_INLINED { return gelu(v); });
    case PointwiseOp::kGeluTanh:
      return add_and_finish(adds_last, p, [](const auto& v) HWY_ATTR ASSAY_INLINED { return gelu_tanh(v); });
    case PointwiseOp::kHardSigmoid:
      return add_and_finish(adds_last, p, [=](VF v) HWY_ATTR { return unit_ramp(v, a, b); });
    case PointwiseOp::kHardSwish:
      return add_and_finish(adds_last, p, [](VF v) HWY_ATTR { return hard_swish(v); });
    case PointwiseOp::kLeakyRelu:
      return add_and_finish(adds_last, p, [=](VF v) HWY_ATTR { return leaky_relu(v, a); });
    case PointwiseOp::kSigmoid:
      return add_and_finish(adds_last, p, [](const auto& v) HWY_ATTR ASSAY_INLINED { return sigmoid(v); });
    case PointwiseOp::kSilu:
      return add_and_finish(adds_last, p, [](const auto& v) HWY_ATTR ASSAY_INLINED { return silu(v); });
    default:
      HWY_ASSERT(false);
  }
}

void finish(const EpilogueParameters& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
            const EpilogueOperands& operands, float* y, int64_t y_stride) {
  RowsToEpilogue p{rows, columns, x, x_stride, operands, y, y_stride};
  const bool clips = finish.function == PointwiseOp::kClip, adds_last = finish.adds_last;
  if (!are_scaled(finish, operands)) return apply_function(finish, p);
  // A function that is no bound leaves the factors to a second walk, for which what is added last waits.
  if (!clips) {
    if (adds_last) p.operands.addend = nullptr;
    apply_function(finish, p);
    p.x = y, p.x_stride = y_stride, p.operands.addend = adds_last ? operands.addend : nullptr;
  }
  constexpr float kUnbounded = std::numeric_limits<float>::infinity();
  const float low = clips ? finish.a : -kUnbounded, high = clips ? finish.b : kUnbounded;
  if (p.operands.addend == nullptr)
    return scaled_rows<Adds::kNothing>(p, low, high, finish.scale, finish.shift);
  adds_last ? scaled_rows<Adds::kLast>(p, low, high, finish.scale, finish.shift)
            : scaled_rows<Adds::kFirst>(p, low, high, finish.scale, finish.shift);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(finish);

void row_epilogue(const EpilogueParameters& finish, int64_t rows, int64_t columns, const float* x,
                  int64_t x_stride, const EpilogueOperands& operands, float* y, int64_t y_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(finish)(finish, rows, columns, x, x_stride, operands, y, y_stride);
}

}  // namespace assay::kernels
#endif
