// The ranked samples of an evaluation: their inputs, and what float64 says of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eval/eval_options.h"

namespace assay::eval {

/// The inputs of ranked samples, of a stream as they pass by, of a counted set read again.
class WorstSamples {
 public:
  /// Keeps the samples of these places of each ranking. `samples` must outlive it.
  WorstSamples(SampleSet& samples, size_t places) : samples_(samples), places_(places) {}
  /// A sample of a stream that was measured, or that an interrupted evaluation has ranked.
  void offer(const Evaluation& evaluation, const Sample& sample, const std::vector<Tensor>& feed);
  /// Those in the first `places` places, in order.
  std::map<int64_t, TensorList> inputs(const Evaluation& evaluation, size_t places,
                                       const std::vector<TensorInfo>& infos) const;

 private:
  SampleSet& samples_;
  size_t places_;
  std::map<int64_t, std::vector<Tensor>> kept_;
};

/// A file of saved inputs for each sample. Throws Error (kIo).
void save_worst(const std::map<int64_t, TensorList>& inputs, const std::string& folder);
/// Runs the backends on each sample again, and judges them against the float64 reference.
std::vector<JudgedSample> judge_samples(const RunOptions& run, const std::map<int64_t, TensorList>& inputs);

}  // namespace assay::eval
