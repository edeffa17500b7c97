#include "kernels/panel/finish_rows.h"

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/finish_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

enum class Adds : uint8_t { kNothing, kFirst, kLast };

struct RowsToFinish {
  int64_t rows, columns;
  const float* x;
  int64_t x_stride;
  const float* addend;
  int64_t addend_stride;
  float* y;
  int64_t y_stride;
};

template <Adds kAdds, typename Function>
void rows_of(RowsToFinish p, Function function) {
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
        if constexpr (kAdds == Adds::kFirst) v = add(v, load_together(p.addend, distance(p.addend_stride)));
        v = function(v);
        if constexpr (kAdds == Adds::kLast) v = add(v, load_together(p.addend, distance(p.addend_stride)));
        store_together(v, p.y, distance(p.y_stride));
        if constexpr (kAdds != Adds::kNothing) p.addend += kRows * p.addend_stride;
      }
    }
  for (; r < p.rows; ++r, p.x += p.x_stride, p.y += p.y_stride) {
    size_t c = 0;
    if constexpr (std::is_invocable_v<Function, Vectors>)
      for (; c + kTogether * lanes <= count; c += kTogether * lanes) {
        Vectors v = load_together(p.x + c);
        if constexpr (kAdds == Adds::kFirst) v = add(v, load_together(p.addend + c));
        v = function(v);
        if constexpr (kAdds == Adds::kLast) v = add(v, load_together(p.addend + c));
        store_together(v, p.y + c);
      }
    for (; c + lanes <= count; c += lanes) {
      VF v = hn::LoadU(f, p.x + c);
      if constexpr (kAdds == Adds::kFirst) v = hn::Add(v, hn::LoadU(f, p.addend + c));
      v = function(v);
      if constexpr (kAdds == Adds::kLast) v = hn::Add(v, hn::LoadU(f, p.addend + c));
      hn::StoreU(v, f, p.y + c);
    }
    if (const size_t left = count - c; left > 0) {
      VF v = load_first(p.x + c, left);
      if constexpr (kAdds == Adds::kFirst) v = hn::Add(v, load_first(p.addend + c, left));
      v = function(v);
      if constexpr (kAdds == Adds::kLast) v = hn::Add(v, load_first(p.addend + c, left));
      store_first(v, p.y + c, left);
    }
    if constexpr (kAdds != Adds::kNothing) p.addend += p.addend_stride;
  }
}

template <typename Function>
void add_and_finish(bool adds_last, const RowsToFinish& p, Function function) {
  if (p.addend == nullptr) return rows_of<Adds::kNothing>(p, function);
  adds_last ? rows_of<Adds::kLast>(p, function) : rows_of<Adds::kFirst>(p, function);
}

void finish(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
            const float* addend, int64_t addend_stride, float* y, int64_t y_stride) {
  const RowsToFinish p{rows, columns, x, x_stride, addend, addend_stride, y, y_stride};
  const float a = finish.a, b = finish.b;
  switch (finish.function) {
    case FinishFunction::kClip:
      return add_and_finish(finish.adds_last, p, [=](VF v) HWY_ATTR { return clip(v, a, b); });
    case FinishFunction::kGelu:
      return add_and_finish(finish.adds_last, p,
                            [](const auto& v) HWY_ATTR ASSAY_INLINED { return gelu(v); });
    case FinishFunction::kGeluTanh:
      return add_and_finish(finish.adds_last, p,
                            [](const auto& v) HWY_ATTR ASSAY_INLINED { return gelu_tanh(v); });
    case FinishFunction::kHardSigmoid:
      return add_and_finish(finish.adds_last, p, [=](VF v) HWY_ATTR { return unit_ramp(v, a, b); });
    case FinishFunction::kHardSwish:
      return add_and_finish(finish.adds_last, p, [](VF v) HWY_ATTR { return hard_swish(v); });
    case FinishFunction::kSigmoid:
      return add_and_finish(finish.adds_last, p,
                            [](const auto& v) HWY_ATTR ASSAY_INLINED { return sigmoid(v); });
    case FinishFunction::kSilu:
      return add_and_finish(finish.adds_last, p,
                            [](const auto& v) HWY_ATTR ASSAY_INLINED { return silu(v); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(finish);

void finish_rows(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
                 const float* addend, int64_t addend_stride, float* y, int64_t y_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(finish)(finish, rows, columns, x, x_stride, addend, addend_stride, y, y_stride);
}

}  // namespace assay::kernels
#endif
