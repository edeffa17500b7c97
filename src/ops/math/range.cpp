// Range: start, start + delta, start + 2 * delta, ...: max(0, ceil((limit - start) / delta)) elements.
#include <bit>
#include <cmath>
#include <cstdint>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/extent_math.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/sums/sums.h"
#include "tensor/convert.h"

namespace assay::op_onnx_Range {
namespace {

/// Longest range that is computed: more is a mistake, and would not fit in memory.
constexpr int64_t kLongestRange = int64_t{1} << 28;

template <typename T>
int64_t range_length(T start, T limit, T delta) {
  require(delta != T(0), ErrorCode::kInvalidModel, "delta must not be 0");
  double length;
  if constexpr (std::is_floating_point_v<T>) {
    length = std::ceil((limit - start) / delta);
    require(std::isfinite(length), ErrorCode::kInvalidModel, "a range from {} to {} by {} has no length",
            start, limit, delta);
  } else {
    // Rounds up exactly; 128 bits, because limit - start may not fit in 64.
    const __int128 distance = static_cast<__int128>(limit) - start, step = delta;
    const __int128 quotient = distance / step;
    length = static_cast<double>(quotient + (distance % step != 0 && (distance > 0) == (step > 0)));
  }
  require(length <= static_cast<double>(kLongestRange), ErrorCode::kInvalidModel,
          "a range of {} elements is longer than {}", length, kLongestRange);
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

template <typename F>
decltype(auto) visit_range_type(DType dtype, F&& f) {
  return visit_dtype<double, int64_t, int32_t, int16_t>(dtype, f);
}

/// The length when all three inputs are known.
std::optional<int64_t> known_length(const InferContext& c) {
  Tensor in[3];
  for (size_t i = 0; i < 3; ++i) {
    const Tensor* value = c.input_value(i);
    if (value == nullptr || value->numel() != 1) return {};
    in[i] = is_float(value->dtype()) ? to_float64(*value) : *value;
  }
  return visit_range_type(in[0].dtype(), [&]<typename T>() {
    return range_length(in[0].item<T>(), in[1].item<T>(), in[2].item<T>());
  });
}

/// limit - start where delta is 1 and that is not negative.
Dim symbolic_length(const InferContext& c) {
  const auto start = input_elements(c, 0), limit = input_elements(c, 1), delta = input_elements(c, 2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return {};
  if ((*delta)[0].number != 1) return {};
  const Dim length = sub_elements((*limit)[0], (*start)[0]).extent;
  return length.is_symbol() && !is_not_negative(length) && !c.is_extent(length) ? Dim() : length;
}

void infer(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) {
    const Dims* dims = c.input_dims(i);
    c.check(dims == nullptr || dims->empty() ||
                (dims->size() == 1 && (!(*dims)[0].is_known() || (*dims)[0].value() == 1)),
            "start, limit and delta must be scalars, not of shape {}", dims ? dims_str(*dims) : "?");
  }
  const std::optional<int64_t> length = known_length(c);
  c.set_output(0, c.input_dtype(0), Dims{length ? Dim(*length) : symbolic_length(c)});
}

void eval(EvalContext& c) {
  for (size_t i = 0; i < 3; ++i)
    c.check(c.input(i).numel() == 1, "start, limit and delta must be scalars, not of shape {}",
            c.shape(i).str());
  visit_range_type(c.input(0).dtype(), [&]<typename T>() {
    const T start = c.input(0).item<T>(), limit = c.input(1).item<T>(), delta = c.input(2).item<T>();
    Tensor y = Tensor::allocate(dtype_of<T>(), Shape{range_length(start, limit, delta)});
    T* out = y.mutable_data<T>();
    for (int64_t i = 0; i < y.numel(); ++i) out[i] = wrap_add(start, wrap_mul(static_cast<T>(i), delta));
    c.set_output(0, std::move(y));
  });
}

/// The product i * delta rounds, then the sum.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double start = c.input(0).item<double>();
  return map_elements<double>(y, [=](double y) { return u * (std::abs(y - start) + std::abs(y)); });
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  start: T
in  limit: T
in  delta: T
out output: T
type T: float double int16 int32 int64)",
     infer, eval},
    {27, R"(
in  start: T
in  limit: T
in  delta: T
out output: T
attr stash_type: int = 1
type T: @float_ir4 int16 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Range",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1},
                      {.kind = InputUse::Kind::kCount, .input = 2}}},
            .size_input = 1,
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_Range

namespace assay {

/// Kernels add delta again and again. As many sums come before as in the last element whose number has as
/// many binary digits.
bool sums_of_range(EvalContext& c, int64_t i, SummedElement& out) {
  if (c.input(0).dtype() != DType::kFloat64) return false;
  const double start = c.input(0).item<double>(), delta = c.input(2).item<double>();
  const int digits = std::bit_width(static_cast<uint64_t>(i));
  const int64_t last = (int64_t{1} << digits) - 1;
  out.row = digits;
  if (out.known_row() == nullptr) {
    Addends steps{.terms = std::vector<double>(static_cast<size_t>(last) + 1, delta), .inner = 0};
    steps.terms[0] = start;
    out.sums.push_back(std::move(steps));
  }
  const double exact = start + static_cast<double>(last) * delta,
               own = start + static_cast<double>(i) * delta;
  out.result = [=](std::span<const double> sums) { return own + (sums[0] - exact); };
  return true;
}

}  // namespace assay
