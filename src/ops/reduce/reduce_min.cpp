// ReduceMin: the smallest element; NaN if one is NaN. Of no elements: infinity, or the highest value of a
// type without it. false < true.
#include <limits>

#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceMin {
namespace {

/// The value that loses to every other.
template <typename T>
constexpr T identity() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? static_cast<T>(Limits::infinity()) : Limits::max();
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  const auto run = [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, identity<T>(), [](T x) { return x; },
                        [](T a, T b) { return smaller(a, b); }, [](T x) { return x; }));
  };
  visit_dtype<float, double, int64_t, int32_t, uint64_t, uint32_t, int8_t, uint8_t, bool>(c.input(0).dtype(),
                                                                                          run);
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer_reduce, eval},    {11, "same as ReduceL1-1", infer_reduce, eval},
    {12, "same as ReduceMax-12", infer_reduce, eval}, {13, "same as ReduceMax-13", infer_reduce, eval},
    {18, "same as ReduceMax-18", infer_reduce, eval}, {20, "same as ReduceMax-20", infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceMin",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .moves = Moves::kSelected,
            .mixes_axis = true,
            .reduction = {.kernel = kernels::Reduction::kMin,
                          .composes_for_floats = true,
                          .composes_for_integers = true,
                          .keeps_single = true},
            .compares = {{{.reach = ComparisonFact::Reach::kSmallest}}},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceMin
