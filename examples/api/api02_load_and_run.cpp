// Runs the plan that api01_build_and_run saved.
#include <assay/loaders.h>
#include <assay/runners.h>

#include <cstdio>

int main() {
  using namespace assay;
  using namespace assay::poly;
  TrtRunner runner{EngineFromBytes(BytesFromPath("identity.plan"))};
  const Active active(runner);
  const Tensor input = Tensor::from<float>(Shape{1, 1, 2, 2}, std::vector<float>{1, 2, 3, 4});
  if (!runner.infer({{"x", input}})[0].tensor.identical(input)) return 1;
  std::printf("Inference succeeded!\n");
}
