// Makes a network layer by layer.
#include <assay/edit.h>
#include <assay/func.h>
#include <assay/runners.h>

#include <cstdio>

int main() {
  using namespace assay;
  using namespace assay::poly;
  const auto network = func::extend(CreateNetwork(), [](Network& n) {
    Graph& g = *n->graph;
    g.name = "from_scratch";
    Value* image = g.add_input("image", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(1), Dim(4), Dim(4)}));
    Tensor kernel = Tensor::zeros(DType::kFloat32, Shape{2, 1, 3, 3});
    for (float& w : kernel.mutable_span<float>()) w = 1;
    Value* conv = layer(g, "Conv", {image, kernel}, {"conv"},
                        {.attributes = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}})[0];
    Value* relu = layer(g, "Relu", {conv}, {"relu"})[0];
    Value* pool = layer(g, "GlobalAveragePool", {relu}, {"pool"})[0];
    g.outputs = layer(g, "Flatten", {pool}, {"features"});
  });
  TrtRunner runner{EngineFromNetwork(network)};
  const Active active(runner);
  Tensor image = Tensor::zeros(DType::kFloat32, Shape{1, 1, 4, 4});
  for (float& p : image.mutable_span<float>()) p = 1;
  // Sums of the neighbours: 4 in corners, 6 at edges, 9 inside; 100 over 16 pixels.
  const TensorList outputs = runner.infer({{"image", image}});
  std::printf("%s = %g\n", outputs[0].tensor.shape().str().c_str(), outputs[0].tensor.data<float>()[0]);
  return outputs[0].tensor.shape() == Shape{1, 2} && outputs[0].tensor.data<float>()[0] == 6.25F ? 0 : 1;
}
