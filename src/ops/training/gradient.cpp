// Gradient: the derivative of one tensor of the graph by others. It is checked and its types are inferred; a
// reference that evaluates graphs has no evaluation for it, since it needs the derivative of every operator.
#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_training_Gradient {
namespace {

void infer(InferContext& c) {
  const size_t by = c.attr_strings("xs").size(), fixed = c.attr_strings("zs").size();
  c.check(c.input_count() == by + fixed, "{} inputs for the {} names in xs and zs", c.input_count(),
          by + fixed);
  c.check(c.output_count() <= by, "{} outputs for the {} names in xs", c.output_count(), by);
  for (size_t i = 0; i < c.output_count(); ++i) c.set_output_type(i, c.input_type(i));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  Inputs: T1 ...any
out Outputs: T2 ...any
attr y: string required
attr zs: strings
attr xs: strings required
type T1: @all
type T2: @float)",
     infer, nullptr},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.preview.training", .name = "Gradient", .versions = kVersions};

}  // namespace assay::op_training_Gradient
