// Builds an engine that may use float16, saves its plan and runs it.
#include <assay/loaders.h>
#include <assay/runners.h>

#include <cstdio>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  // Nothing is built yet: a loader works when it is called.
  EngineFromNetwork build{NetworkFromOnnxPath(identity_model()), CreateConfig{.fp16 = true}};

  // SaveEngine passes the engine on, so that it replaces `build`.
  TrtRunner runner{SaveEngine(build, "identity.plan")};
  const Active active(runner);
  const Tensor input = Tensor::from<float>(Shape{1, 1, 2, 2}, std::vector<float>{1, 2, 3, 4});
  const TensorList outputs = runner.infer({{"x", input}});

  std::printf("%s took %.3f ms\n", runner.name().c_str(), 1e3 * runner.last_inference_time());
  if (!outputs[0].tensor.identical(input)) return 1;
  std::printf("Inference succeeded!\n");
}
