// ReduceMean: the mean of the elements. Integers are summed in 64 bits and the quotient truncated. The
// mean of nothing is NaN, and an error for integers.
// The bound counts the sums, the rounding of 1 / n and the product with it.
#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceMean {
namespace {

template <typename T>
Tensor mean(const EvalContext& c, const Reduction& r) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  c.check(std::is_floating_point_v<T> || r.count > 0, "the mean of no integers is undefined");
  const Sum n = static_cast<Sum>(r.count);
  return reduce<T>(
      c.input(0), r, Sum(0), [](T x) { return static_cast<Sum>(x); },
      [](Sum a, Sum b) { return wrap_add(a, b); }, [n](Sum sum) { return static_cast<T>(sum / n); });
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() { c.set_output(0, mean<T>(c, r)); });
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
    .name = "ReduceMean",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 2, .terms = reduced_count},
    .facts =
        {
            .mixes_axis = true,
            .sums = SumsFact::kMean,
            .reduction = {.kernel = kernels::Reduction::kMean,
                          .composes_for_floats = true,
                          .keeps_single = true},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceMean
