// Outputs of runners, loaded one tensor at a time for comparison.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/tensor.h"

namespace assay {

/// The outputs of one iteration of one runner.
class OutputSource {
 public:
  virtual ~OutputSource() = default;
  virtual const std::string& runner_name() const = 0;
  /// Unique names in the runner's order.
  virtual const std::vector<std::string>& names() const = 0;
  /// The output of names()[index]. Its memory is free again when the last copy of the tensor goes; a
  /// comparison keeps no more than one output of each runner.
  virtual Tensor load(size_t index) const = 0;
};

/// Outputs that are already in memory.
class OutputList : public OutputSource {
 public:
  OutputList(std::string runner_name, TensorList outputs);
  const std::string& runner_name() const override { return runner_name_; }
  const std::vector<std::string>& names() const override { return names_; }
  Tensor load(size_t index) const override { return outputs_[index].tensor; }

 private:
  std::string runner_name_;
  TensorList outputs_;
  std::vector<std::string> names_;
};

/// A pair of outputs, as named in the log.
struct OutputPair {
  std::string runner0, runner1;
  std::string name0, name1;
  Tensor output0, output1;
};

}  // namespace assay
