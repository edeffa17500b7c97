// Inserts an Add behind a node.
//
//     ex02_insert FOLDER      writes model-02-01.onnx (before) and model-02-02.onnx (after)
#include "example.h"

using namespace assay;

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    Model model = example::new_model();
    Graph& graph = *model.graph;
    Value* x = graph.add_input("tensor0", example::image_type());
    Value* same = graph.add_value("tensor1", example::image_type());
    Value* y = graph.add_value("tensor2", Type::tensor(DType::kFloat32));
    Node* first = graph.add_node("Identity", {x}, {same}, {}, "myIdentity0");
    graph.add_node("Identity", {same}, {y}, {}, "myIdentity1");
    graph.outputs = {y};
    save_model(model, folder + "/model-02-01.onnx");

    Value* one = graph.add_constant("constant0", example::ones({1, 1, 1, 1}));
    Value* sum = graph.add_value("tensor3", Type::tensor(DType::kFloat32));
    // The node that has used the value longest is its first consumer, with or without the new one.
    Node* next = consumer_node(*first);
    graph.insert_node(next, "Add", {same, one}, {sum}, {}, "myAdd");
    next->set_input(0, sum);
    save_model(model, folder + "/model-02-02.onnx");
  });
}
