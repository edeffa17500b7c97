// Cuts one node out of a model by making its neighbours the model's inputs and outputs.
//
//     ex08_isolate FOLDER     writes model-08-01.onnx (before) and model-08-02.onnx (after)
#include "example.h"

using namespace assay;

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    Model model = example::identity_add_identity(example::image_type());
    Graph& graph = *model.graph;
    save_model(model, folder + "/model-08-01.onnx");

    graph.inputs = {graph.find_value("tensor1")};
    graph.outputs = {graph.find_value("tensor2")};
    cleanup(model);  // cuts off what computes an input, and removes what reaches no output
    save_model(model, folder + "/model-08-02.onnx");
  });
}
