// Two profiles for an input with an open extent: one for single rows, one for batches.
#include <assay/loaders.h>
#include <assay/runners.h>

#include <cstdio>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  const CreateConfig config = {.profiles = {Profile().add("x", Shape{1, 4}, Shape{1, 4}, Shape{1, 4}),
                                            Profile().add("x", Shape{1, 4}, Shape{16, 4}, Shape{32, 4})}};
  TrtRunner runner{EngineFromNetwork(NetworkFromOnnxPath(dynamic_model()), config)};
  const Active active(runner);
  const auto run = [&](int64_t rows) {
    return runner.infer({{"x", Tensor::zeros(DType::kFloat32, Shape{rows, 4})}})[0].tensor.shape();
  };
  if (run(1) != Shape{1, 3}) return 1;
  try {
    run(2);
    return 1;
  } catch (const Error& e) {
    std::printf("As it should be: %s\n", e.what());
  }
  runner.set_profile(1);
  for (const int64_t rows : {1, 16, 32})
    if (run(rows) != Shape{rows, 3}) return 1;
  std::printf("Every shape of the second profile runs\n");
}
