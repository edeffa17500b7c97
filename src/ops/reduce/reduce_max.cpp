// ReduceMax: the largest element; NaN if one is NaN. Of no elements: minus infinity, or the lowest value
// of a type without it. false < true.
#include <limits>

#include "ops/math/wrapping.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceMax {
namespace {

/// The value that loses to every other.
template <typename T>
constexpr T identity() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  const auto run = [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, identity<T>(), [](T x) { return x; },
                        [](T a, T b) { return larger(a, b); }, [](T x) { return x; }));
  };
  visit_dtype<float, double, int64_t, int32_t, uint64_t, uint32_t, int8_t, uint8_t, bool>(c.input(0).dtype(),
                                                                                          run);
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer_reduce, eval},
    {11, "same as ReduceL1-1", infer_reduce, eval},
    {12, R"(
in  data: T
out reduced: T
attr keepdims: int = 1
attr axes: ints
type T: @float uint32 uint64 int32 int64 uint8 int8)",
     infer_reduce, eval},
    {13, R"(
in  data: T
out reduced: T
attr axes: ints
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64 uint8 int8)",
     infer_reduce, eval},
    {18, R"(
in  data: T
in  axes: int64 ?
out reduced: T
attr noop_with_empty_axes: int = 0
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64 uint8 int8)",
     infer_reduce, eval},
    {20, R"(
in  data: T
in  axes: int64 ?
out reduced: T
attr noop_with_empty_axes: int = 0
attr keepdims: int = 1
type T: @float_ir4 uint32 uint64 int32 int64 uint8 int8 bool)",
     infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceMax",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .moves = Moves::kSelected,
            .mixes_axis = true,
            .reduction = {.kernel = kernels::Reduction::kMax,
                          .composes_for_floats = true,
                          .composes_for_integers = true,
                          .keeps_single = true},
            .compares = {{{.reach = ComparisonFact::Reach::kLargest}}},
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceMax
