#include "planted_network.h"

#include <algorithm>
#include <cmath>

#include "../common/models.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "transform/mark_outputs.h"

namespace assay::planted {
namespace {

class OneSet final : public Int8Calibrator {
 public:
  explicit OneSet(const std::vector<Tensor>& feed) : feed_(feed) {}
  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    if (std::exchange(is_done_, true)) return std::nullopt;
    TensorList batch;
    for (size_t i = 0; i < inputs.size(); ++i) batch.push_back({inputs[i].name, feed_[i]});
    return batch;
  }
  void write_cache(const std::string& text) override { scales = CalibrationTable::parse(text, "").scales; }

  Scales scales;

 private:
  const std::vector<Tensor>& feed_;
  bool is_done_ = false;
};

}  // namespace

std::shared_ptr<Model> marked(const Model& model) {
  std::shared_ptr<Model> all = clone_model(model);
  mark_all_outputs(*all);
  infer_shapes(*all);
  return all;
}

std::shared_ptr<Model> marked_as(const Model& model, const Model& other) {
  std::shared_ptr<Model> same = clone_model(model);
  same->graph->outputs.clear();
  for (const Value* v : other.graph->outputs)
    if (Value* own = same->graph->find_value(v->name()); own != nullptr && own->producer() != nullptr)
      same->graph->outputs.push_back(own);
  infer_shapes(*same);
  return same;
}

StoredTensorList results_of(const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed,
                            BuilderConfig config) {
  static const Runtime runtime;
  config.optimization_level = 0;
  const std::shared_ptr<Engine> engine = Builder(runtime).build_engine(model, config);
  const std::vector<Tensor> tensors = engine->create_execution_context()->infer(feed);
  const std::vector<IoTensor> outputs = engine->outputs();
  StoredTensorList list;
  for (size_t i = 0; i < outputs.size(); ++i) list.push_back({outputs[i].name, tensors[i]});
  return list;
}

Network::Network(const std::string& template_name) : name(template_name) {
  const std::shared_ptr<Model> plain = load_named_model(name);
  feed = make_feed(*plain);
  for (const Value* v : plain->graph->outputs) outputs.push_back(v->name());
  model = marked(*plain);
  const auto calibrator = std::make_shared<OneSet>(feed);
  results_of(model, feed, {.int8 = true, .calibrator = calibrator});
  scales = calibrator->scales;
  for (const NamedStoredTensor& t : results_of(model, feed, {})) values[t.name] = t.tensor.load();
  for (size_t i = 0; i < feed.size(); ++i) values[model->graph->inputs[i]->name()] = feed[i];
}

float Network::step_of(const std::string& value) const {
  float most = 0;
  for (const float x : values.at(value).span<float>())
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return std::max(most, 1e-6F) / 127;
}

bool Network::has_floats(const Value* v) const {
  const auto it = v == nullptr ? values.end() : values.find(v->name());
  return it != values.end() && it->second.dtype() == DType::kFloat32 && it->second.numel() > 0;
}

}  // namespace assay::planted
