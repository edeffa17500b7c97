#include "engine/specialize/specializer.h"

#include <algorithm>
#include <utility>

namespace assay::engine {
namespace {

/// A copy of it takes so much memory that it is worth being made again in the rare case that it is needed.
bool is_large(const Model& model) { return model.graph->nodes().size() > 50'000; }

bool has_known_inputs(const Model& model) {
  const auto& inputs = model.graph->inputs;
  return std::all_of(inputs.begin(), inputs.end(), [](const Value* v) {
    return v->type.is_tensor() && v->type.has_shape() && known_shape(*v->type.dims).has_value();
  });
}

/// Of the inputs that determine shapes.
bool have_same_values(const std::vector<PlanKey>& keys) {
  return std::all_of(keys.begin(), keys.end(), [&](const PlanKey& k) {
    return std::equal(
        k.values.begin(), k.values.end(), keys.front().values.begin(), keys.front().values.end(),
        [](const auto& a, const auto& b) { return a.first == b.first && a.second.identical(b.second); });
  });
}

}  // namespace

Specializer::Specializer(std::shared_ptr<const Model> model, BuildConfig config)
    : model_(std::move(model)), config_(std::move(config)) {
  if (config_.constants == nullptr) config_.constants = std::make_shared<ConstantCache>();
  if (config_.memory == nullptr) config_.memory = std::make_shared<ChoiceMemory>();
  if (config_.built == nullptr) config_.built = std::make_shared<PlanCounts>();
  config_.reports = false;
}

Specializer::Specializer(const PlanNetwork& network, BuildConfig config)
    : Specializer(network.model, std::move(config)) {
  if (network.plan == nullptr) return;
  std::vector<Shape> shapes;
  for (const int32_t id : network.plan->inputs)
    shapes.push_back(network.plan->values[static_cast<size_t>(id)].shape);
  config_.memory->learn(*network.plan);
  keep({std::move(shapes), {}}, network.plan);
}

PlanBuilder& Specializer::opened() {
  require(model_ != nullptr, ErrorCode::kInvalidArgument,
          "the plan is for other shapes, and the network that it was made of is not in it");
  if (!builder_) builder_.emplace(*model_, config_);
  return *builder_;
}

void Specializer::open() {
  const std::lock_guard lock(mutex_);
  opened();
}

void Specializer::open(PlanBuilder builder) {
  const std::lock_guard lock(mutex_);
  config_.constants = builder.config().constants;
  builder_.emplace(std::move(builder)).configure(config_);
}

void Specializer::add(PlanKey key, std::shared_ptr<const Plan> plan) {
  const std::lock_guard lock(mutex_);
  config_.memory->learn(*plan);
  for (const auto& entry : key.values)
    if (std::find(value_inputs_.begin(), value_inputs_.end(), entry.first) == value_inputs_.end())
      value_inputs_.push_back(entry.first);
  std::sort(value_inputs_.begin(), value_inputs_.end());
  keep(std::move(key), std::move(plan));
}

std::shared_ptr<const ReadyPlan> Specializer::keep(PlanKey key, std::shared_ptr<const Plan> plan,
                                                   std::optional<InputExtents> extents) {
  auto ready = std::make_shared<ReadyPlan>();
  ready->key = std::move(key);
  ready->extents = std::move(extents);
  if (!plan->networks.empty()) {
    BuildConfig inside = config_;
    inside.quantization = nullptr;
    inside.is_part = true;
    for (const PlanNetwork& n : plan->networks)
      ready->networks.push_back(std::make_shared<Specializer>(n, inside));
  }
  ready->plan = std::move(plan);
  return plans_.emplace(std::move(ready));
}

std::shared_ptr<const ReadyPlan> Specializer::prepare(const std::vector<Shape>& shapes) {
  const std::lock_guard lock(mutex_);
  for (const auto& p : plans_)
    if (!p->extents && p->key.values.empty() && p->key.shapes == shapes) return p;
  if (auto plan = open_plan(shapes, {})) return plan;
  PlanBuilder& builder = opened();
  std::shared_ptr<const Plan> plan;
  if (is_large(*model_) && has_known_inputs(*model_)) {
    // No other shapes may come, so the builder does without a copy for them. (Were one needed all the same,
    // it is made anew.)
    std::optional<PlanBuilder> last = std::exchange(builder_, std::nullopt);
    std::vector<size_t> none;
    plan = last->build_last(shapes, {}, none);
  } else {
    plan = builder.build(shapes);
  }
  return waits_for_shapes(*plan) ? nullptr : keep({shapes, {}}, std::move(plan));
}

std::shared_ptr<const ReadyPlan> Specializer::make(const PlanKey& key) {
  const std::lock_guard lock(mutex_);
  std::vector<Tensor> inputs(key.shapes.size());
  std::vector<size_t> found;
  for (const auto& [i, value] : key.values) {
    inputs[i] = value;
    found.push_back(i);
  }
  return keep(key, opened().build(key.shapes, inputs, found));
}

/// Null as long as shapes do not tell which extents are open, where most of the network depends on them, and
/// where elements of inputs that determine shapes are other ones in every run.
std::shared_ptr<const ReadyPlan> Specializer::open_plan(const std::vector<Shape>& shapes,
                                                        std::span<const Tensor> inputs) {
  if (ignores_values_ || (inputs.empty() && !value_inputs_.empty())) return nullptr;
  std::vector<const Shape*> pointers;
  for (const Shape& s : shapes) pointers.push_back(&s);
  if (const auto* plan = plans_.find_open(pointers, inputs)) return *plan;
  PlanKey key{.shapes = shapes, .values = {}};
  for (const size_t i : value_inputs_) key.values.emplace_back(i, inputs[i]);
  new_keys_.push_back(std::move(key));
  if (new_keys_.size() > kSameExtents) new_keys_.erase(new_keys_.begin());
  if (new_keys_.size() < kSameExtents || !have_same_values(new_keys_)) return nullptr;
  std::vector<std::vector<Shape>> seen;
  for (const PlanKey& k : new_keys_) seen.push_back(k.shapes);
  std::optional<InputExtents> extents = InputExtents::of(*opened().canonical().graph, seen);
  if (!extents || std::find(not_open_.begin(), not_open_.end(), *extents) != not_open_.end()) return nullptr;
  // Not for shapes that it would not serve.
  if (!extents->hold(pointers)) return nullptr;
  try {
    const auto& values = new_keys_.back().values;
    if (auto plan = opened().build_open(*extents, values))
      return keep({.shapes = {}, .values = values}, std::move(plan), std::move(extents));
  } catch (const Error&) {
    // Many shapes do not fit where one does not: the plan for these alone tells whether they do.
  }
  not_open_.push_back(std::move(*extents));
  if (not_open_.size() > kMaxNotOpen) not_open_.erase(not_open_.begin());
  return nullptr;
}

std::vector<std::optional<Shape>> Specializer::output_shapes(const std::vector<Shape>& shapes) {
  const std::lock_guard lock(mutex_);
  return opened().output_shapes(shapes);
}

std::shared_ptr<const ReadyPlan> Specializer::plan_for(std::span<const Tensor> inputs, bool alone) {
  const std::lock_guard lock(mutex_);
  if (const auto* plan = plans_.find(inputs)) return *plan;
  PlanKey key;
  for (const Tensor& t : inputs) key.shapes.push_back(t.is_container() ? Shape() : t.shape());
  if (!alone)
    if (auto plan = open_plan(key.shapes, inputs)) return plan;
  if (plans_.has_shapes(inputs) && ++value_misses_ > kMaxValueMisses) ignores_values_ = true;
  if (ignores_values_) return keep(std::move(key), opened().build(key.shapes));
  std::shared_ptr<const Plan> plan = opened().build(key.shapes, inputs, value_inputs_);
  for (const size_t i : value_inputs_) key.values.emplace_back(i, inputs[i]);
  return keep(std::move(key), std::move(plan));
}

size_t Specializer::plan_count() const {
  const std::lock_guard lock(mutex_);
  return plans_.size();
}

}  // namespace assay::engine
