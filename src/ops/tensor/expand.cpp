// Expand: the input broadcast with a shape, both ways: an extent of 1 in the shape keeps the input's.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_Expand {
namespace {

/// A scalar or vector of extents that becomes a vector of known length.
void propagate(InferContext& c, const Dims& out) {
  const Dims* extents = c.input_extents(0);
  if (extents == nullptr || out.size() != 1 || !out[0].is_known()) return;
  const int64_t length = out[0].value();
  if (length > static_cast<int64_t>(kLongestExtents)) return;
  if (extents->size() == 1)
    c.set_output_extents(0, Dims(static_cast<size_t>(length), (*extents)[0]));
  else
    c.set_output_extents(0, *extents);
}

void infer(InferContext& c) {
  check_list(c, 1);
  const Dims* in = c.input_dims(0);
  const Dims* wanted = c.input_extents(1);
  const int64_t length = known_length(c, 1);
  if (in == nullptr || (wanted == nullptr && (length < 0 || length > static_cast<int64_t>(kLongestExtents))))
    return c.set_output(0, c.input_dtype(0));
  const Dims out = broadcast_dims(*in, wanted ? *wanted : Dims(static_cast<size_t>(length)));
  c.set_output(0, c.input_dtype(0), out);
  propagate(c, out);
}

void eval(EvalContext& c) {
  const Shape wanted(integer_list(c, 1));
  for (const int64_t d : wanted) c.check(d >= 0, "the shape has the negative extent {}", d);
  const Shape out = broadcast(c.shape(0), wanted);
  c.set_output(0, copy_region(c.input(0), {0, broadcast_strides(c.shape(0), out)}, out));
}

constexpr OpVersion kVersions[] = {
    {8, R"(
in  input: T
in  shape: int64
out output: T
type T: @all)",
     infer, eval},
    {13, R"(
in  input: T
in  shape: int64
out output: T
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Expand",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
            .size_input = 1,
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_Expand
