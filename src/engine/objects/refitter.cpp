#include <algorithm>
#include <map>

#include "engine/objects/state.h"
#include "graph/clone.h"

namespace assay {

struct Refitter::State {
  std::shared_ptr<Engine> engine;
  std::map<std::string, Tensor, std::less<>> given;

  std::shared_ptr<const Model> model() const {
    const std::lock_guard lock(engine->state().mutex);
    return engine->state().saved.model;
  }
};

Refitter::Refitter(std::shared_ptr<Engine> engine)
    : state_(std::make_unique<State>(State{std::move(engine), {}})) {
  require(state_->engine->is_refittable(), ErrorCode::kInvalidArgument,
          "the engine '{}' was not built to be refitted", state_->engine->name());
}
Refitter::~Refitter() = default;

std::vector<std::string> Refitter::all_weights() const {
  std::vector<std::string> names;
  for (const auto& v : state_->model()->graph->values())
    if (v->is_constant()) names.push_back(v->name());
  return names;
}

std::vector<std::string> Refitter::missing_weights() const {
  std::vector<std::string> names;
  for (const auto& v : state_->model()->graph->values())
    if (v->is_constant() && !v->tensor().defined() && !state_->given.contains(v->name()))
      names.push_back(v->name());
  return names;
}

void Refitter::set_weights(std::string_view name, const Tensor& weights) {
  const auto model = state_->model();
  const Value* v = model->graph->find_value(name);
  require(v != nullptr && v->is_constant(), ErrorCode::kNotFound, "the engine '{}' has no weights named '{}'",
          state_->engine->name(), name);
  const std::optional<Shape> shape = v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt;
  require(weights.defined() && weights.dtype() == v->type.dtype && (!shape || weights.shape() == *shape),
          ErrorCode::kInvalidArgument, "the weights '{}' are {}, not {}{}", name, v->type.str(),
          dtype_name(weights.dtype()), weights.shape().str());
  state_->given.insert_or_assign(std::string(name), weights);
}

void Refitter::refit() {
  const std::vector<std::string> missing = missing_weights();
  if (!missing.empty()) {
    std::string names;
    for (size_t i = 0; i < std::min<size_t>(missing.size(), 5); ++i)
      names += (i > 0 ? ", " : "") + missing[i];
    fail(ErrorCode::kInvalidArgument, "{} weights of the engine '{}' are still missing: {}{}", missing.size(),
         state_->engine->name(), names, missing.size() > 5 ? ", ..." : "");
  }
  Engine::State& engine = state_->engine->state();
  engine::SavedEngine saved;
  {
    const std::lock_guard lock(engine.mutex);
    saved = engine.saved;
  }
  const std::shared_ptr<Model> model = clone_model(*saved.model);
  for (const auto& [name, weights] : state_->given) model->graph->find_value(name)->set_tensor(weights);
  saved.model = model;
  saved.is_stripped = false;
  std::vector<engine::SpecializedPlan> old;
  std::swap(old, saved.plans);
  std::shared_ptr<engine::Specializer> plans = make_specializer(*engine.runtime, saved);
  for (const engine::SpecializedPlan& p : old)
    if (p.plan != nullptr) plans->learn(*p.plan);
  for (const engine::SpecializedPlan& p : old) {
    const auto ready = plans->make(p.key);
    saved.plans.push_back({ready->key, ready->plan});
  }
  const std::lock_guard lock(engine.mutex);
  engine.saved = std::move(saved);
  engine.plans = std::move(plans);
  engine.generation.fetch_add(1, std::memory_order_release);
}

}  // namespace assay
