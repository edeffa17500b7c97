// Identity: the input, unchanged.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_Identity {
namespace {

void infer(InferContext& c) {
  infer_same_as_input(c);
  propagate_integers(c);
}

void eval(EvalContext& c) { c.set_output(0, c.input(0)); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
type T: @all)",
     infer, eval},
    {13, R"(
in  input: T
out output: T
type T: @all_ir4)",
     infer, eval},
    {14, R"(
in  input: V
out output: V
type V: @all_ir4 seq(tensor(@all)))",
     infer, eval},
    {16, R"(
in  input: V
out output: V
type V: @all_ir4 seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
    {19, R"(
in  input: V
out output: V
type V: @all_ir9 seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
    {21, R"(
in  input: V
out output: V
type V: @all_ir10 seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
    {23, R"(
in  input: V
out output: V
type V: @all_ir11 seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
    {24, R"(
in  input: V
out output: V
type V: @all_ir12 seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
    {25, R"(
in  input: V
out output: V
type V: @all_ir13 seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Identity",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kView,
            .elementwise = 1,
            .is_total = true,
        },
};

}  // namespace assay::op_onnx_Identity
