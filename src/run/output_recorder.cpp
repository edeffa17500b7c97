#include "run/output_recorder.h"

#include <iterator>

#include "tensor/value_tensors.h"

namespace assay {

void OutputRecorder::on_active(const std::vector<TensorInfo>& outputs) {
  for (const TensorInfo& o : outputs) blank_.push_back({{o.name, StoredTensor()}});
  current_ = blank_;
}

void OutputRecorder::on_output(size_t output, Tensor value) {
  const std::string name = blank_.at(output)[0].name;
  current_[output].clear();
  for_each_tensor(name, std::move(value), [&](const std::string& part, Tensor tensor) {
    keep(part, std::move(tensor), current_[output]);
  });
}

void OutputRecorder::on_iteration_end(double seconds) {
  StoredTensorList all;
  for (StoredTensorList& list : current_) std::move(list.begin(), list.end(), std::back_inserter(all));
  current_ = blank_;
  iterations.push_back({std::move(all), seconds, runner_name_});
}

void OutputRecorder::keep(const std::string& name, Tensor tensor, StoredTensorList& list) {
  // A view of a backend's buffer can keep all memory of its session alive, so tensors in memory are copied.
  if (store_.bytes_in_memory() + tensor.nbytes() <= kResultMemory && tensor.dtype() != DType::kString)
    tensor.mutable_data();
  list.push_back({name, store_.put(std::move(tensor))});
}

}  // namespace assay
