// Works with results that api03_compare saved: reads, changes, compares and writes them by hand.
#include <assay/comparator.h>

#include <cstdio>

int main() {
  using namespace assay;
  using namespace assay::poly;
  poly::RunResults results = poly::RunResults::load("results.json");
  for (const auto& [runner, iterations] : results.runners()) {
    std::printf("%s, %zu iterations\n", runner.c_str(), iterations.size());
    for (const poly::IterationResult& i : iterations)
      for (const NamedTensor& t : i.outputs)
        std::printf("  %s %s\n", t.name.c_str(), t.tensor.shape().str().c_str());
  }
  // The classes instead of the probabilities.
  const poly::RunResults classes = Comparator::postprocess(results, PostprocessFunc::top_k(1));
  if (!Comparator::compare_accuracy(classes, {.compare_funcs = {CompareFunc::indices()}})) return 1;

  // An error of our own is found.
  Tensor& first = results.runners()[0].second[0].outputs[0].tensor;
  first.mutable_data<float>()[0] += 0.5F;
  const AccuracyResult changed = Comparator::compare_accuracy(results);
  results.save("changed.json");
  std::printf("after a change: %.1f %%\n", changed.pairs[0].percentage());
  return changed || !Comparator::validate(results).empty() ? 1 : 0;
}
