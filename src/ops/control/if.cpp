// If: the outputs of one of two subgraphs, which see the values around them.
#include "ops/control/stack.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/value_type.h"

namespace assay::op_onnx_If {
namespace {

/// A branch that breaks a rule may be one that never runs, so it is an error only when it is sure to run, or
/// when the other is no better.
void infer(InferContext& c) {
  const Tensor* condition = c.input_value(0);
  const bool known = condition != nullptr && condition->dtype() == DType::kBool && condition->numel() == 1;
  const bool taken = known && condition->data<bool>()[0];
  std::optional<Error> then_problem, else_problem;
  const std::vector<Type> then_types =
      c.infer_subgraph("then_branch", {}, known && taken ? nullptr : &then_problem);
  const std::vector<Type> else_types =
      c.infer_subgraph("else_branch", {}, known && !taken ? nullptr : &else_problem);
  if (then_problem && else_problem) throw *then_problem;
  c.check(then_types.size() == c.output_count() && else_types.size() == c.output_count(),
          "the branches have {} and {} outputs, the node has {}", then_types.size(), else_types.size(),
          c.output_count());
  for (size_t i = 0; i < then_types.size(); ++i) {
    if (known)
      c.set_output_type(i, taken ? then_types[i] : else_types[i]);
    else
      c.set_output_type(i, common_type(then_types[i], else_types[i]));
  }
}

void eval(EvalContext& c) {
  const bool condition = single(c.input(0), "the condition").data<bool>()[0];
  const Graph& branch = c.attr_graph(condition ? "then_branch" : "else_branch");
  std::vector<Tensor> outputs = c.subgraphs().run(branch, {});
  c.check(outputs.size() == c.output_count(), "the branch has {} outputs, the node has {}", outputs.size(),
          c.output_count());
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(i, std::move(outputs[i]));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all
type B: bool)",
     infer, eval},
    {11, "same as If-1", infer, eval},
    {13, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all seq(tensor(@all))
type B: bool)",
     infer, eval},
    {16, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all_ir4 seq(tensor(@all_ir4)) optional(tensor(@all_ir4)) optional(seq(tensor(@all_ir4)))
type B: bool)",
     infer, eval},
    {19, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all_ir9 seq(tensor(@all_ir9)) optional(tensor(@all_ir9)) optional(seq(tensor(@all_ir4)))
type B: bool)",
     infer, eval},
    {21, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all_ir10 seq(tensor(@all_ir10)) optional(tensor(@all_ir10)) optional(seq(tensor(@all_ir4)))
type B: bool)",
     infer, eval},
    {23, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all_ir11 seq(tensor(@all_ir11)) optional(tensor(@all_ir11)) optional(seq(tensor(@all_ir4)))
type B: bool)",
     infer, eval},
    {24, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all_ir12 seq(tensor(@all_ir12)) optional(tensor(@all_ir12)) optional(seq(tensor(@all_ir4)))
type B: bool)",
     infer, eval},
    {25, R"(
in  cond: B
out outputs: V ...any
attr else_branch: graph required
attr then_branch: graph required
type V: @all_ir13 seq(tensor(@all_ir13)) optional(tensor(@all_ir13)) optional(seq(tensor(@all_ir4)))
type B: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "If",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_If
