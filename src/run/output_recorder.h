// Records the outputs of a runner.
#pragma once

#include <string>
#include <vector>

#include "run/results.h"
#include "run/runner.h"
#include "tensor/tensor_store.h"

namespace assay {

/// Results beyond this go to disk. Small, because the page cache keeps recently written data anyway, and
/// memory should be left to the model.
inline constexpr size_t kResultMemory = size_t{16} << 20;

/// Records a runner's outputs as the results of its iterations.
class OutputRecorder final : public InferenceObserver {
 public:
  OutputRecorder(const std::string& runner_name, TensorStore& store)
      : runner_name_(runner_name), store_(store) {}

  void on_active(const std::vector<TensorInfo>& outputs) override;
  void on_output(size_t output, Tensor value) override;
  void on_iteration_end(double seconds) override;

  std::vector<IterationResult> iterations;

 private:
  void keep(const std::string& name, Tensor tensor, StoredTensorList& list);

  const std::string& runner_name_;
  TensorStore& store_;
  std::vector<StoredTensorList> blank_, current_;  ///< the tensors that represent each output
};

}  // namespace assay
