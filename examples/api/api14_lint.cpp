// Finds what is wrong with a model: a node that breaks a rule of its operator, and a weight that nothing
// uses.
#include <assay/edit.h>
#include <assay/io.h>
#include <assay/lint.h>

#include <cstdio>

int main() {
  using namespace assay;
  Model model;
  model.opsets = {{"", 17}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(2), Dim(3)}));
  Value* w = g.add_constant("w", Tensor::zeros(DType::kFloat32, Shape{4, 3}));
  g.add_constant("spare", Tensor::zeros(DType::kFloat32, Shape{1}));
  g.outputs = layer(g, "MatMul", {x, w}, {"y"});
  g.outputs[0]->producer()->name = "product";
  save_model(model, "broken.onnx");

  bool found = false, unused = false;
  const lint::Findings findings = lint::lint_model({.path = "broken.onnx"});
  for (const lint::Finding& f : findings.entries) {
    std::printf("%s (%s)\n", lint::finding_text(f).c_str(), f.rule.c_str());
    found = found || (f.node == "product" && f.level == lint::Level::kException);
    unused = unused || f.message.find("spare") != std::string::npos;
  }
  return found && unused && !findings.is_valid() && findings.failing == std::vector<std::string>{"product"}
             ? 0
             : 1;
}
