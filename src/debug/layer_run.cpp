#include "debug/layer_run.h"

#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "passes/pass_list.h"
#include "run/coerce_inputs.h"
#include "run/observer.h"
#include "run/output_recorder.h"
#include "transform/mark_outputs.h"

namespace assay::debug {
namespace {

class EachOutput final : public InferenceObserver {
 public:
  explicit EachOutput(const LayerRun::Observer& observer) : observer_(observer) {}
  void on_active(const std::vector<TensorInfo>& outputs) override {
    for (const TensorInfo& o : outputs) names_.push_back(o.name);
  }
  void on_output(size_t output, Tensor value) override {
    if (!value.is_container()) observer_(names_.at(output), std::move(value));
  }
  void on_iteration_end(double) override {}

 private:
  const LayerRun::Observer& observer_;
  std::vector<std::string> names_;
};

ModelLoaderOptions named(const std::string& path) {
  ModelLoaderOptions options;
  options.path = path;
  // The model is no longer that of the file.
  options.mark_all = true;
  return options;
}

void lay_open(Model& model) {
  if (!model.functions.empty()) pass_inline_functions::def.run(model);
  pass_constants_to_initializers::def.run(model);
  sort_topologically(*model.graph);
  mark_all_outputs(model);
  infer_known_shapes(model, /*report=*/false);
}

}  // namespace

std::shared_ptr<Model> model_of_layers(const ModelLoaderOptions& options) {
  ModelLoaderOptions plain = options;
  plain.mark_all = false;
  plain.outputs.reset();
  plain.exclude_outputs.reset();
  plain.output_types.clear();
  plain.save = {};
  std::shared_ptr<Model> model = ModelLoader(plain).load_quietly();
  with_context([&] { return file_place(options.path); }, [&] { lay_open(*model); });
  return model;
}

std::shared_ptr<Model> model_of_layers(const Model& model) {
  std::shared_ptr<Model> open = clone_model(model);
  lay_open(*open);
  return open;
}

LayerRun::LayerRun(std::shared_ptr<const Model> model, const std::string& path, const RunnerChoice& runner,
                   const SessionOptions& session)
    : model_(std::move(model)),
      backend_(runner.human_name),
      loader_(named(path), model_),
      runners_(make_runners({runner}, session)),
      active_(std::make_unique<ActiveRunner>(runners_.front(), loader_)) {
  require_tensors(inputs());
}

void LayerRun::run(const TensorList& data, const Observer& observer) {
  const std::vector<Tensor> feed = coerce_inputs(data, inputs());
  for (size_t i = 0; i < feed.size(); ++i) observer(inputs()[i].name, feed[i]);
  EachOutput receiver(observer);
  receiver.on_active(runners_.front().outputs());
  RunObserver nobody;
  run_iteration(runners_.front(), feed, receiver, nobody);
}

void LayerValues::put(const std::string& name, Tensor value) {
  // A view of a backend's buffer can keep all memory of its session alive.
  if (store_.bytes_in_memory() + value.nbytes() <= kResultMemory && value.dtype() != DType::kString)
    value.mutable_data();
  values_[name] = store_.put(std::move(value));
}

StoredTensor LayerValues::find(const std::string& name) const {
  const auto it = values_.find(name);
  return it != values_.end() ? it->second : StoredTensor();
}

Tensor LayerValues::load(const Value& value) const {
  if (const UnalignedTensor* constant = constant_of(&value)) return constant->aligned();
  const StoredTensor stored = find(value.name());
  return stored.defined() ? stored.load() : Tensor();
}

}  // namespace assay::debug
