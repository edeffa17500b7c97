// SequenceMap: runs a subgraph for each element of a sequence. Further sequences, of the same length, give an
// element each; further tensors are passed whole. The subgraph's outputs become sequences.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceMap {
namespace {

void infer(InferContext& c) {
  std::vector<Type> inputs = {sequence_element_type(c, 0)};
  for (size_t i = 1; i < c.input_count(); ++i) {
    const Type& type = c.input_type(i);
    inputs.push_back(type.kind == Type::Kind::kSequence ? element_of(type) : type);
  }
  std::vector<Type> outputs = c.infer_subgraph("body", inputs);
  c.check(outputs.size() == c.output_count(), "the body has {} outputs, the node has {}", outputs.size(),
          c.output_count());
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output_type(i, sequence_of(std::move(outputs[i])));
}

void eval(EvalContext& c) {
  const Graph& body = c.attr_graph("body");
  const size_t n = sequence_elements(c, 0).size();
  for (size_t i = 1; i < c.input_count(); ++i)
    if (c.input(i).dtype() == DType::kSequence)
      c.check(sequence_elements(c, i).size() == n, "the sequences have {} and {} elements", n,
              sequence_elements(c, i).size());
  std::vector<std::vector<Tensor>> outputs(c.output_count());
  for (size_t k = 0; k < n; ++k) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : c.inputs()) inputs.push_back(t.dtype() == DType::kSequence ? t.elements()[k] : t);
    std::vector<Tensor> results = c.subgraphs().run(body, std::move(inputs));
    c.check(results.size() == outputs.size(), "the body has {} outputs, the node has {}", results.size(),
            outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push_back(std::move(results[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(i, make_sequence(std::move(outputs[i])));
}

constexpr OpVersion kVersions[] = {
    {17, R"(
in  input_sequence: S
in  additional_inputs: V ...any0
out out_sequence: S ...any
attr body: graph required
type S: seq(tensor(@all))
type V: @all seq(tensor(@all)))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceMap",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_SequenceMap
