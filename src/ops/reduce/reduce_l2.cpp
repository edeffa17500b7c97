// ReduceL2: the square root of the sum of x^2; 0 for no elements. Integers are squared and summed in 64
// bits, and the root is truncated.
// The root halves the relative error of squares and sums, and rounds once.
#include <cmath>

#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceL2 {
namespace {

/// The integer part of the square root.
uint64_t integer_root(uint64_t x) {
  auto root = static_cast<uint64_t>(std::sqrt(static_cast<long double>(x)));
  while (static_cast<unsigned __int128>(root) * root > x) --root;
  return root;
}

template <typename T>
Tensor norm(const EvalContext& c, const Reduction& r) {
  if constexpr (std::is_floating_point_v<T>) {
    return reduce<T>(
        c.input(0), r, 0.0, [](double x) { return x * x; }, [](double a, double b) { return a + b; },
        [](double sum) { return std::sqrt(sum); });
  } else {
    return reduce<T>(
        c.input(0), r, uint64_t{0}, [](T x) { return static_cast<uint64_t>(x) * static_cast<uint64_t>(x); },
        [](uint64_t a, uint64_t b) { return a + b; },
        [](uint64_t sum) { return static_cast<T>(integer_root(sum)); });
  }
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() { c.set_output(0, norm<T>(c, r)); });
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer_reduce, eval},
    {11, "same as ReduceL1-1", infer_reduce, eval},
    {13, "same as ReduceL1-13", infer_reduce, eval},
    {18, "same as ReduceL1-18", infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceL2",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 2, .terms = reduced_count},
    .facts =
        {
            .mixes_axis = true,
            .sums = SumsFact::kRootOfSquares,
            .reduction = {.kernel = kernels::Reduction::kL2, .composes_for_floats = true},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceL2
