// ExpandDims: a new dimension of extent 1 at the axis; a negative axis counts from behind the last dimension.
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_ms_ExpandDims {
namespace {

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  const auto axis = known_integers(c, 1);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out(in->size() + 1);
  if (axis && axis->size() == 1) {
    const int at = normalize_axis((*axis)[0], static_cast<int>(out.size()));
    out = *in;
    out.insert(out.begin() + at, Dim(1));
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void eval(EvalContext& c) {
  c.check(c.input(1).numel() == 1, "the axis has shape {} where one number is needed", c.shape(1).str());
  Shape out = c.shape(0);
  out.insert_at(static_cast<size_t>(normalize_axis(c.input(1).to_int64()[0], out.rank() + 1)), 1);
  c.set_output(0, c.input(0).reshaped(out));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  axis: int32
out Y: T
type T: @all)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "ExpandDims",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kView,
        },
};

}  // namespace assay::op_ms_ExpandDims
