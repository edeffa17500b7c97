// Builds layers through functions that are registered for an opset or for all, then replaces Min and Max by a
// Clip.
//
//     ex09_layers FOLDER      writes model-09-01.onnx (before) and model-09-02.onnx (after)
#include "example.h"

using namespace assay;

namespace {

/// A function that adds one layer whose output is named after `output`.
LayerRegistry::Function one_layer(std::string op_type, std::string output, AttributeList attributes = {}) {
  return [=](Graph& graph, const LayerArguments& arguments) {
    return layer(graph, op_type, arguments, {output}, {.attributes = attributes});
  };
}

LayerRegistry make_registry() {
  LayerRegistry registry;
  registry.add("gemm", one_layer("Gemm", "myGgemm", {{"transA", int64_t{0}}, {"transB", int64_t{1}}}));
  registry.add("add", one_layer("Add", "myAdd"));
  registry.add("mul", one_layer("Mul", "myMul"));
  registry.add("min", one_layer("Min", "myMin"));
  registry.add("max", one_layer("Max", "myMax"));
  registry.add("relu", one_layer("Relu", "myReLU"), {11});
  registry.add("relu",
               [](Graph&, const LayerArguments&) -> std::vector<Value*> {
                 fail(ErrorCode::kUnsupported, "this Relu is for opset 1");
               },
               {1});
  return registry;
}

Tensor filled(Shape shape, float number) {
  Tensor t = example::ones(std::move(shape));
  for (float& x : t.mutable_span<float>()) x = number;
  return t;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    const LayerRegistry registry = make_registry();
    Model model = example::new_model();
    Graph& graph = *model.graph;
    const auto call = [&](const char* name, Value* a, Value* b = nullptr) {
      return registry.call(model, graph, name, b != nullptr ? LayerArguments{a, b} : LayerArguments{a})[0];
    };
    Value* x = graph.add_input("tensor0", Type::tensor(DType::kFloat32, Shape{64, 64}));
    Value* weights = graph.add_constant("tensor1", filled({64, 64}, 1));
    Value* bias = graph.add_constant("tensor2", filled({64, 64}, 0.5F));
    Value* scale = graph.add_constant("tensor3", filled({64, 64}, 1));
    Value* high = graph.add_constant("tensor4", filled({1}, 3));
    Value* low = graph.add_constant("tensor5", filled({1}, -3));

    Value* y = call("relu", call("add", call("gemm", weights, x), bias));
    Value* scaled = call("mul", y, scale);
    Value* clipped = call("max", call("min", scaled, high), low);
    clipped->type = Type::tensor(DType::kFloat32);
    graph.outputs = {clipped};
    save_model(model, folder + "/model-09-01.onnx");

    // Free the chain at both ends, put the new layer between them, and clean up.
    for (const auto& node : graph.nodes())
      if (node->op_type == "Min") node->set_inputs({});
    clipped->producer()->set_outputs({});
    layer(graph, "Clip", {scaled, low, high}, {clipped});
    cleanup(model);
    save_model(model, folder + "/model-09-02.onnx");
  });
}
