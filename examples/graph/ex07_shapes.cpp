// Arithmetic on shapes, which folds away as far as the shape of the input is known.
//
//     ex07_shapes FOLDER      writes model-07-01.onnx (input [A, 3, B, 5]), -07-02 ([2, 3, 4, 5]), -07-03
//     ([A, 3, 4, 5])
#include "example.h"

using namespace assay;

namespace {

Model build() {
  Model model = example::new_model();
  Graph& graph = *model.graph;
  Value* x =
      graph.add_input("tensor0", Type::tensor(DType::kFloat32, {Dim::symbol("A"), 3, Dim::symbol("B"), 5}));
  const auto integers = [&](const char* name) { return graph.add_value(name, Type::tensor(DType::kInt64)); };
  const auto product = [](int64_t keepdims) {
    return AttributeList{{"axes", std::vector<int64_t>{0}}, {"keepdims", keepdims}};
  };
  Value *shape = integers("tensor1"), *size = integers("tensor2"), *front = integers("tensor4"),
        *back = integers("tensor5"), *back_size = integers("tensor6"), *target = integers("tensor7");
  Value* flat = graph.add_value("tensor3", Type::tensor(DType::kFloat32));
  Value* partly_flat = graph.add_value("tensor8", Type::tensor(DType::kFloat32));
  Value* first_two = graph.add_constant("constant0", Tensor::vector<int32_t>({0, 1}));
  Value* last_two = graph.add_constant("constant1", Tensor::vector<int32_t>({2, 3}));

  graph.add_node("Shape", {x}, {shape}, {}, "myShape");
  graph.add_node("ReduceProd", {shape}, {size}, product(1), "myReduceProd0");
  graph.add_node("Reshape", {x, size}, {flat}, {}, "myReshape0");
  graph.add_node("Gather", {shape, first_two}, {front}, {}, "myGather0");
  graph.add_node("Gather", {shape, last_two}, {back}, {}, "myGather1");
  graph.add_node("ReduceProd", {back}, {back_size}, product(1), "myReduceProd1");
  graph.add_node("Concat", {front, back_size}, {target}, {{"axis", int64_t{0}}}, "myConcat");
  graph.add_node("Reshape", {x, target}, {partly_flat}, {}, "myReshape1");
  graph.outputs = {flat, partly_flat};
  toposort(model);
  return model;
}

void save_folded(const Model& original, Dims dims, const std::string& path) {
  const std::shared_ptr<Model> model = copy(original);
  model->graph->inputs[0]->type.dims = std::move(dims);
  fold_constants(*model);
  cleanup(*model);
  save_model(*model, path);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, [](const std::string& folder) {
    const Model model = build();
    save_model(model, folder + "/model-07-01.onnx");
    save_folded(model, {2, 3, 4, 5}, folder + "/model-07-02.onnx");
    save_folded(model, {Dim::symbol("A"), 3, 4, 5}, folder + "/model-07-03.onnx");
  });
}
