// Changes a network and a configuration on their way to the builder.
#include <assay/edit.h>
#include <assay/func.h>
#include <assay/runners.h>

#include <cstdio>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  // The loader gives the model as the function changed it.
  const auto network = func::extend(NetworkFromOnnxPath(identity_model()), [](Network& n) {
    n->graph->name = "renamed";
    n->graph->outputs = layer(*n->graph, "Softmax", {n->graph->outputs[0]}, {"probabilities"});
  });
  const auto config = func::extend(CreateConfig(), [](Config& c) { c.builder.optimization_level = 0; });

  TrtRunner runner{EngineFromNetwork(network, config)};
  const Active active(runner);
  const Tensor input = Tensor::from<float>(Shape{1, 1, 2, 2}, std::vector<float>{1, 1, 2, 2});
  const TensorList outputs = runner.infer({{"x", input}});
  std::printf("%s: %g\n", outputs[0].name.c_str(), outputs[0].tensor.data<float>()[0]);
  return outputs[0].tensor.data<float>()[0] == 0.5F ? 0 : 1;
}
