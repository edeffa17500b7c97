// Compares two backends on the same data, and saves what they gave.
#include <assay/backend_set.h>
#include <assay/comparator.h>

#include <cstdio>
#include <memory>

#include "models.h"

int main() {
  using namespace assay;
  using namespace assay::poly;
  const OnnxFromPath load(dynamic_model());
  TrtRunner engine{EngineFromNetwork(load)};
  // ONNX Runtime where it is installed, else the float64 reference.
  std::unique_ptr<BaseRunner> other;
  if (built_in_backends().get("onnxrt").probe({}).empty())
    other = std::make_unique<OnnxrtRunner>(SessionFromOnnx(load));
  else
    other = std::make_unique<RefRunner>(load);

  const DataLoader data({.seed = 7, .iterations = 3});
  const RunResults results =
      Comparator::run({&engine, other.get()}, {.data = data_source(data), .save_inputs_path = "inputs.json"});
  results.save("results.json");

  const AccuracyResult accuracy = Comparator::compare_accuracy(
      results, {.compare_funcs = {CompareFunc::simple({.atol = 1e-5}), CompareFunc::cosine_similarity()},
                .logs = true});
  for (const PairAccuracy& pair : accuracy.pairs) {
    std::printf("%s and %s: %.1f %%\n", pair.runner0.c_str(), pair.runner1.c_str(), pair.percentage());
    for (const OutputAccuracy& o : pair.outputs)
      for (const auto& [name, value] : o.metrics)
        std::printf("  %s %s %s = %g\n", o.function.c_str(), o.output.c_str(), name.c_str(), value);
  }
  // Who of them is right?
  for (const Arbitration& iteration : Comparator::arbitrate(load(), results, data_source(data)))
    for (const ArbiterVerdict& v : iteration.outputs)
      std::printf("%s %s: %s\n", v.runner.c_str(), v.output.c_str(),
                  std::string(verdict_name(v.verdict)).c_str());
  return accuracy ? 0 : 1;
}
