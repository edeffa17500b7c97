// A model that runs on a backend with every tensor marked, so that each node is seen with what it was given
// and gave.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/model_loader.h"
#include "run/runner.h"
#include "tensor/tensor_store.h"

namespace assay::debug {

/// The model as such runs have it: local functions inlined, constants as initializers, nodes in topological
/// order, types inferred, every tensor an output. Throws Error.
std::shared_ptr<Model> model_of_layers(const ModelLoaderOptions& options);
/// Of a model in memory, which stays as it is.
std::shared_ptr<Model> model_of_layers(const Model& model);

class LayerRun {
 public:
  /// Opens the session. `model` as model_of_layers() makes it; `path` is what errors call it. Throws Error.
  LayerRun(std::shared_ptr<const Model> model, const std::string& path, const RunnerChoice& runner,
           const SessionOptions& session);

  const std::shared_ptr<const Model>& model() const { return model_; }
  const std::vector<TensorInfo>& inputs() const { return runners_.front().inputs(); }
  const std::string& backend() const { return backend_; }

  /// Runs once on data that are made to fit. `observer` sees the inputs, then each tensor once, in the order
  /// in which the backend gives them; no containers. Throws Error.
  using Observer = std::function<void(const std::string& name, Tensor value)>;
  void run(const TensorList& data, const Observer& observer);

 private:
  std::shared_ptr<const Model> model_;
  std::string backend_;
  ModelLoader loader_;
  std::vector<Runner> runners_;  ///< one
  std::unique_ptr<ActiveRunner> active_;
};

/// The results of one run, by name.
class LayerValues {
 public:
  /// `store` outlives it.
  explicit LayerValues(TensorStore& store) : store_(store) {}

  void put(const std::string& name, Tensor value);
  /// Undefined where there is none.
  StoredTensor find(const std::string& name) const;
  /// Of a constant its data, of others what was put. Undefined where there is none.
  Tensor load(const Value& value) const;

 private:
  TensorStore& store_;
  std::unordered_map<std::string, StoredTensor> values_;
};

}  // namespace assay::debug
