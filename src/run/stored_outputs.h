// Stored results as outputs for comparison.
#pragma once

#include <string>
#include <vector>

#include "compare/outputs.h"
#include "run/results.h"

namespace assay {

/// The outputs of one iteration, fetched when they are compared. Shares the stored tensors.
class StoredOutputs : public OutputSource {
 public:
  explicit StoredOutputs(const IterationResult& result)
      : runner_name_(result.runner_name), outputs_(result.outputs) {
    for (const NamedStoredTensor& o : outputs_) names_.push_back(o.name);
  }
  const std::string& runner_name() const override { return runner_name_; }
  const std::vector<std::string>& names() const override { return names_; }
  Tensor load(size_t index) const override { return outputs_[index].tensor.load(); }

 private:
  std::string runner_name_;
  StoredTensorList outputs_;
  std::vector<std::string> names_;
};

}  // namespace assay
