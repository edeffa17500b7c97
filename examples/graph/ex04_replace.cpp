// Turns an Add into a Sub in two ways, each in a copy of the model.
//
//     ex04_replace FOLDER     writes model-04-01.onnx (before), -04-02 and -04-03 (after), and the original
//     again
//                             as model-04-04.onnx
#include "example.h"

using namespace assay;

namespace {

Node* find_node(const Graph& graph, std::string_view op_type) {
  for (const auto& node : graph.nodes())
    if (node->op_type == op_type) return node.get();
  fail(ErrorCode::kNotFound, "the graph has no {}", op_type);
}

/// Another operator in the same node.
void rename_operator(Graph& graph) {
  Node* add = find_node(graph, "Add");
  add->op_type = "Sub";
  add->name = "mySub";
}

/// Another node with the same inputs and outputs. A value has one producer, so the old node lets go first.
void replace_node(Graph& graph) {
  Node* add = find_node(graph, "Add");
  const std::vector<Value*> outputs = add->outputs();
  add->set_outputs({});
  graph.insert_node(add, "Sub", add->inputs(), outputs, {}, "mySub");
  cleanup(graph);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    const Model model = example::identity_add_identity(Type::tensor(DType::kFloat32));
    save_model(model, folder + "/model-04-01.onnx");

    const std::shared_ptr<Model> first = copy(model), second = copy(model);
    rename_operator(*first->graph);
    save_model(*first, folder + "/model-04-02.onnx");
    replace_node(*second->graph);
    save_model(*second, folder + "/model-04-03.onnx");
    save_model(model, folder + "/model-04-04.onnx");
  });
}
