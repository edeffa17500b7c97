#include "run/loader_cache.h"

#include <algorithm>

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/log.h"
#include "run/coerce_inputs.h"

namespace assay {
LoaderCache::LoaderCache(DataLoader loader) : loader_(std::make_unique<DataLoader>(std::move(loader))) {}
LoaderCache::LoaderCache(InputData data) : loaded_(std::move(data)) {}
LoaderCache::LoaderCache(std::shared_ptr<DataSource> source, TensorStore& store)
    : source_(std::move(source)), store_(&store) {}

int64_t LoaderCache::size() const {
  return loader_ != nullptr ? std::max<int64_t>(loader_->size(), 0) : static_cast<int64_t>(loaded_.size());
}

void LoaderCache::adopt_first_inputs(std::vector<TensorInfo> inputs) {
  if (fixed_) return;
  first_inputs_ = std::move(inputs);
  fixed_ = true;
}

void LoaderCache::set_inputs(std::vector<TensorInfo> inputs) {
  require_tensors(inputs);
  inputs_ = std::move(inputs);
  // As in upstream, a loader that returned nothing is called again.
  if (fixed_ && size() > 0) return;
  first_inputs_ = inputs_;
  fixed_ = true;
  diag::verbose("Loading inputs from data loader");
  if (source_ != nullptr) {
    source_->begin(first_inputs_);
    while (std::optional<TensorList> data = source_->next()) {
      StoredTensorList& kept = loaded_.emplace_back();
      for (NamedTensor& t : *data)
        kept.push_back({t.name, store_ != nullptr ? store_->put(std::move(t.tensor)) : std::move(t.tensor)});
      if (store_ == nullptr) break;
    }
    source_ = nullptr;
  }
  // Draws every iteration once, as upstream does, so
  // that data errors show before the first inference.
  for (int64_t i = 0; loader_ != nullptr && i < size(); ++i) {
    drawn_ = loader_->load(i, first_inputs_, DataLoader::Report::kYes);
    drawn_iteration_ = i;
  }
  if (size() == 0) diag::warning("Data loader did not yield any input data.");
}

TensorList LoaderCache::data(int64_t iteration) const {
  if (loader_ == nullptr) return load_all(loaded_[static_cast<size_t>(iteration)]);
  if (drawn_iteration_ != iteration) {
    drawn_ = loader_->load(iteration, first_inputs_, DataLoader::Report::kNo);
    drawn_iteration_ = iteration;
  }
  return drawn_;
}

std::vector<Tensor> LoaderCache::feed(int64_t iteration) const {
  const TensorList data = this->data(iteration);
  std::vector<Tensor> result;
  TensorList reloaded;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo& input = inputs_[i];
    try {
      result.push_back(coerce_input(data, input, i));
    } catch (const Misfit& misfit) {
      diag::message(diag::Severity::kCritical, "{}", misfit.message);
      diag::warning(
          "Could not use buffer previously cached from data loader for input: {}. Attempting to reload "
          "inputs from the "
          "data loader.\nNote that this will only work if the data loader supports random access.\nPlease "
          "refer to "
          "warnings above for details on why the previously generated input buffer didn't work. ",
          input.name);
      if (reloaded.empty())
        reloaded = loader_ != nullptr ? loader_->load(iteration, inputs_, DataLoader::Report::kYes) : data;
      const Tensor* tensor = find(reloaded, input.name);
      if (tensor == nullptr)
        fail_expected(ErrorCode::kInvalidArgument,
                      "Could not reload inputs from data loader. Are the runners running the same model? If "
                      "not, please "
                      "rewrite the data loader to support random access.");
      result.push_back(*tensor);
    }
  }
  return result;
}

}  // namespace assay
