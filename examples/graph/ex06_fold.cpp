// Folds constants in a graph whose nodes are out of order, then cleans it up and sorts it.
//
//     ex06_fold FOLDER        writes model-06-01.onnx (before), -06-02 (folded), -06-03 (cleaned up), -06-04
//     (sorted,
//                             without the input and output that do nothing)
#include "example.h"

using namespace assay;

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    Model model = example::new_model();
    Graph& graph = *model.graph;
    const Type one_channel = Type::tensor(DType::kFloat32, {Dim::symbol("B"), 1, 64, 64});
    const Type variable = Type::tensor(DType::kFloat32);
    Value* x = graph.add_input("tensor0", example::image_type());
    graph.add_input("tensor3", one_channel);
    Value* w = graph.add_constant("w", example::ones({1, 1, 1, 1}));
    Value* t1 = graph.add_value("tensor1", example::image_type());
    Value* t2 = graph.add_value("tensor2", example::image_type());
    Value* t4 = graph.add_value("tensor4", one_channel);
    Value* t5 = graph.add_value("tensor5", one_channel);
    Value* t6 = graph.add_value("tensor6", one_channel);
    Value* t7 = graph.add_value("tensor7", variable);
    Value* t8 = graph.add_value("tensor8", variable);
    graph.add_node("Add", {t5, w}, {t6}, {}, "myAdd4");
    graph.add_node("Add", {t1, w}, {t2}, {}, "myAdd3");
    graph.add_node("Add", {x, t8}, {t1}, {}, "myAdd2");
    graph.add_node("Add", {t7, w}, {t8}, {}, "myAdd1");
    graph.add_node("Add", {w, w}, {t7}, {}, "myAdd0");
    graph.outputs = {t2, t4};
    save_model(model, folder + "/model-06-01.onnx");

    fold_constants(model);  // the order of nodes does not matter
    save_model(model, folder + "/model-06-02.onnx");
    cleanup(model);
    save_model(model, folder + "/model-06-03.onnx");

    graph.outputs = {t2};
    cleanup(model, {.remove_unused_graph_inputs = true});
    toposort(model);
    save_model(model, folder + "/model-06-04.onnx");
  });
}
