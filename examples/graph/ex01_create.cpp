// Builds a model from nothing: Conv, Add, Relu.
//
//     ex01_create FOLDER      writes model-01.onnx
#include "example.h"

using namespace assay;

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    Model model = example::new_model();
    Graph& graph = *model.graph;
    Value* x = graph.add_input("tensor0", Type::tensor(DType::kFloat32, {Dim::symbol("B"), 3, 64, 64}));
    Value* weights = graph.add_constant("constant0", example::ones({1, 3, 3, 3}));
    Value* bias = graph.add_constant("constant1", example::ones({1}));
    Value* convolved =
        graph.add_value("tensor1", Type::tensor(DType::kFloat32, {Dim::symbol("B"), 1, 64, 64}));
    Value* shifted = graph.add_value("tensor2", Type::tensor(DType::kFloat32));
    Value* y = graph.add_value("tensor3", Type::tensor(DType::kFloat32));
    using Ints = std::vector<int64_t>;
    graph.add_node("Conv", {x, weights}, {convolved},
                   {{"dilations", Ints{1, 1}},
                    {"kernel_shape", Ints{3, 3}},
                    {"pads", Ints{1, 1, 1, 1}},
                    {"strides", Ints{1, 1}}},
                   "myConv");
    graph.add_node("Add", {convolved, bias}, {shifted}, {}, "myAdd");
    graph.add_node("Relu", {shifted}, {y}, {}, "myRelu");
    graph.outputs = {y};
    save_model(model, folder + "/model-01.onnx");
  });
}
