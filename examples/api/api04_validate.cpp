// Validates one backend on a data set, result by result: nothing is kept.
#include <assay/comparator.h>

#include <cmath>
#include <cstdio>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  RefRunner runner{OnnxFromPath(dynamic_model())};
  int seen = 0, wrong = 0;
  // Any function that gives one set of inputs after the other is a data set.
  const DataSource data = [next = 0](const std::vector<TensorInfo>&) mutable -> std::optional<FeedDict> {
    if (next == 100) return std::nullopt;
    Tensor x = Tensor::zeros(DType::kFloat32, Shape{1, 4});
    x.mutable_data<float>()[next % 4] = static_cast<float>(next++);
    return FeedDict{{"x", x}};
  };
  Comparator::run({&runner}, {.data = data, .keep = [&](const poly::IterationResult& result) {
                                double sum = 0;
                                for (const float p : result.at("y").span<float>()) sum += p;
                                wrong += std::abs(sum - 1) < 1e-6 ? 0 : 1;
                                ++seen;
                                return false;
                              }});
  std::printf("%d results, %d wrong\n", seen, wrong);
  return seen == 100 && wrong == 0 ? 0 : 1;
}
