// Evaluates immediately what the other examples evaluate on demand.
#include <assay/loaders.h>
#include <assay/runners.h>

#include <cstdio>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  const Network network = network_from_onnx_path(identity_model());
  network->graph->name = "immediate";
  const Config config = create_config({.builder_optimization_level = 0});
  const std::shared_ptr<Engine> engine = engine_from_network(network, config);
  const Bytes plan = bytes_from_engine(engine);
  std::printf("%s: a plan of %zu bytes\n", engine->name().c_str(), plan.size());

  // An engine is as good as a loader of it.
  TrtRunner first{engine}, second{engine_from_bytes(plan)};
  const Active first_active(first), second_active(second);
  const Tensor input = Tensor::from<float>(Shape{1, 1, 2, 2}, std::vector<float>{1, 2, 3, 4});
  const Tensor a = first.infer({{"x", input}})[0].tensor, b = second.infer({{"x", input}})[0].tensor;
  return a.identical(b) && a.identical(input) ? 0 : 1;
}
