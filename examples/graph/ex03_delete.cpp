// Removes a node: what used its result uses its input instead.
//
//     ex03_delete FOLDER      writes model-03-01.onnx (before) and model-03-02.onnx (after)
#include "example.h"

using namespace assay;

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    Model model = example::identity_add_identity(Type::tensor(DType::kFloat32));
    Graph& graph = *model.graph;
    save_model(model, folder + "/model-03-01.onnx");

    for (const auto& node : graph.nodes())
      if (node->op_type == "Add") graph.replace_uses(node->output(0), node->input(0));
    cleanup(model);  // the Add reaches no output any more, and nothing uses its constant
    save_model(model, folder + "/model-03-02.onnx");
  });
}
