#include "engine/build/lowering.h"

#include <algorithm>

#include "engine/tactics/tactic_list.h"
#include "passes/origins.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

/// What a tactic wrote down; carried out when the tactic is chosen.
class Draft final : public StepBuilder {
 public:
  struct Request {
    const Value* value;  // null: left out, or a constant of the step's own
    Layout layout;
    std::string key, name;
    std::function<Tensor()> make;
  };
  struct AliasRequest {
    const Value *value, *source;
    Layout layout, source_layout;
    int64_t offset;
  };

  void add_input(const Value* v, Layout layout) override { inputs.push_back({v, layout, {}, {}, {}}); }
  void skip_input() override { inputs.push_back({}); }
  void add_constant(const std::string& key, const std::string& name,
                    const std::function<Tensor()>& make) override {
    inputs.push_back({nullptr, {}, key, name, make});
  }
  void add_output(const Value* v, Layout layout) override { outputs.push_back({v, layout, {}, {}, {}}); }
  void skip_output() override { outputs.push_back({}); }
  void alias(const Value* v, Layout layout, const Value* source, Layout source_layout,
             int64_t offset) override {
    aliases.push_back({v, source, layout, source_layout, offset});
  }
  Step& step() override { return step_; }

  std::vector<Request> inputs, outputs;
  std::vector<AliasRequest> aliases;

 private:
  Step step_;
};

class Lowering {
 public:
  Lowering(Model& model, const BuildConfig& config, ConstantCache& cache)
      : model_(model), config_(config), cache_(cache) {}

  LoweredPlan run();

 private:
  /// A graph value's places, the layout it was made in first.
  using Places = std::vector<std::pair<Layout, int32_t>>;

  class GraphProblem final : public Problem {
   public:
    GraphProblem(const Node& n, const Lowering& l) : Problem(n, l.model_, l.config_), lowering_(l) {}
    const Shape* shape(const Value* v) const override { return lowering_.shape_of(v); }
    Layout layout(const Value* v) const override {
      const auto it = lowering_.places_.find(v);
      return it == lowering_.places_.end() ? Layout() : it->second.front().first;
    }

   private:
    const Lowering& lowering_;
  };

  const Shape* shape_of(const Value* v) const;
  int32_t new_value(const std::string& name, DType dtype, const Shape* shape, Layout layout, Storage storage,
                    int32_t slot);
  int32_t new_value(const Value* v, Layout layout);
  int32_t place_of(const Value* v, Layout layout);
  int32_t reorder(const Value* v, int32_t from, Layout layout);
  int32_t constant_value(const Value* v, Layout layout);
  int32_t own_constant(const Draft::Request& r);
  void add_outputs();
  void lower(Node& n);
  std::string refuse_tensors(const Draft& draft, const TacticDef& tactic) const;
  void commit(Draft& draft, const TacticDef& tactic, const Node& n, std::vector<Refusal> refusals);
  void plant_fault(const Node& n);

  Model& model_;
  const BuildConfig& config_;
  ConstantCache& cache_;
  LoweredPlan lowered_;
  Plan& plan_ = lowered_.plan;
  std::unordered_map<const Value*, Places> places_;
  mutable std::unordered_map<const Value*, std::optional<Shape>> shapes_;
  std::unordered_map<std::string, int32_t> own_constants_;
  std::unordered_map<const Node*, std::vector<Refusal>> dissolved_;
  bool fault_planted_ = false;
};

const Shape* Lowering::shape_of(const Value* v) const {
  if (v == nullptr || !v->type.is_tensor()) return nullptr;
  auto it = shapes_.find(v);
  if (it == shapes_.end())
    it = shapes_.emplace(v, v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt).first;
  return it->second ? &*it->second : nullptr;
}

int32_t Lowering::new_value(const std::string& name, DType dtype, const Shape* shape, Layout layout,
                            Storage storage, int32_t slot) {
  PlanValue v{.name = name,
              .dtype = dtype,
              .has_shape = shape != nullptr,
              .layout = layout,
              .storage = storage,
              .slot = slot};
  if (shape != nullptr) v.shape = *shape;
  plan_.values.push_back(std::move(v));
  lowered_.aliases.emplace_back();
  return static_cast<int32_t>(plan_.values.size() - 1);
}

int32_t Lowering::new_value(const Value* v, Layout layout) {
  const Shape* shape = shape_of(v);
  const DType dtype = v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
  const bool raw = shape != nullptr && bit_width(dtype) != 0;
  return new_value(v->name(), dtype, shape, layout, raw ? Storage::kArena : Storage::kTensor, -1);
}

int32_t Lowering::constant_value(const Value* v, Layout layout) {
  const Tensor& t = v->tensor();
  Tensor stored = config_.has_data ? t.aligned() : Tensor();
  if (config_.has_data && !same_memory(t.shape(), layout, {})) {
    // Few constants are wanted in blocks: per-element operands of a blocked convolution.
    stored = Tensor::zeros(
        t.dtype(), Shape{static_cast<int64_t>(layout_bytes(t.dtype(), t.shape(), layout) / sizeof(float))});
    const int64_t channels = t.dim(1), inner = t.shape().numel(2, t.shape().size()), block = layout.block;
    const int64_t blocks = (channels + block - 1) / block;
    const float* from = t.data<float>();
    float* to = stored.mutable_data<float>();
    for (int64_t i = 0; i < t.numel(); ++i) {
      const int64_t n = i / inner / channels, c = i / inner % channels, at = i % inner;
      to[((n * blocks + c / block) * inner + at) * block + c % block] = from[i];
    }
  }
  plan_.constants.push_back({v->name(), std::move(stored)});
  return new_value(v->name(), t.dtype(), &t.shape(), layout, Storage::kConstant,
                   static_cast<int32_t>(plan_.constants.size() - 1));
}

int32_t Lowering::own_constant(const Draft::Request& r) {
  if (const auto it = own_constants_.find(r.key); it != own_constants_.end()) return it->second;
  Tensor packed;
  if (config_.has_data) {
    Tensor& cached = cache_[r.key];
    if (!cached.defined()) cached = r.make();
    packed = cached;
  }
  plan_.constants.push_back({r.name, packed});
  const int32_t id = new_value(r.name, packed.dtype(), &packed.shape(), {}, Storage::kConstant,
                               static_cast<int32_t>(plan_.constants.size() - 1));
  own_constants_.emplace(r.key, id);
  return id;
}

int32_t Lowering::reorder(const Value* v, int32_t from, Layout layout) {
  const int32_t to = new_value(v, layout);
  const PlanValue& source = plan_.values[static_cast<size_t>(from)];
  if (same_memory(source.shape, source.layout, layout)) {
    lowered_.aliases[static_cast<size_t>(to)] = {from, 0};
    return to;
  }
  plan_.steps.push_back({.tactic = "reorder", .inputs = {from}, .outputs = {to}});
  return to;
}

int32_t Lowering::place_of(const Value* v, Layout layout) {
  Places& places = places_[v];
  for (const auto& [have, id] : places)
    if (have == layout) return id;
  int32_t id;
  if (v->tensor().defined()) {
    id = constant_value(v, layout);
  } else {
    require(!places.empty(), ErrorCode::kInternal, "the value '{}' is used before it is computed", v->name());
    id = reorder(v, places.front().second, layout);
  }
  places_[v].emplace_back(layout, id);
  return id;
}

/// Only kernels on whole tensors can take what has no memory of a known size. Empty when there is none of it.
std::string Lowering::refuse_tensors(const Draft& draft, const TacticDef& tactic) const {
  if (tactic.factory.create_tensor != nullptr) return {};
  const auto is_tensor = [&](const Value* v) {
    return v != nullptr && !v->tensor().defined() &&
           (shape_of(v) == nullptr || bit_width(v->type.dtype) == 0);
  };
  const char* reason = "the shape of an operand is not known before the run";
  for (const Draft::Request& r : draft.inputs)
    if (is_tensor(r.value)) return reason;
  for (const Draft::AliasRequest& a : draft.aliases)
    if (is_tensor(a.source)) return reason;
  return {};
}

void Lowering::commit(Draft& draft, const TacticDef& tactic, const Node& n, std::vector<Refusal> refusals) {
  for (const Draft::AliasRequest& a : draft.aliases) {
    const int32_t source = place_of(a.source, a.source_layout);
    const int32_t id = new_value(a.value, a.layout);
    lowered_.aliases[static_cast<size_t>(id)] = {source, a.offset};
    places_[a.value] = {{a.layout, id}};
  }
  if (!draft.aliases.empty()) return;
  Step step = std::move(draft.step());
  step.tactic = std::string(tactic.name);
  step.origins = origins_of(n);
  step.refusals = std::move(refusals);
  for (const Draft::Request& r : draft.inputs)
    step.inputs.push_back(r.value != nullptr ? place_of(r.value, r.layout) : r.make ? own_constant(r) : -1);
  for (const Draft::Request& r : draft.outputs) {
    if (r.value == nullptr) {
      step.outputs.push_back(-1);
      continue;
    }
    const int32_t id = new_value(r.value, r.layout);
    places_[r.value] = {{r.layout, id}};
    step.outputs.push_back(id);
  }
  plan_.steps.push_back(std::move(step));
}

void Lowering::plant_fault(const Node& n) {
  const std::vector<std::string> origins = origins_of(n);
  if (std::find(origins.begin(), origins.end(), config_.planted_fault) == origins.end()) return;
  for (const Value* v : n.outputs()) {
    const auto it = places_.find(v);
    if (v == nullptr || it == places_.end()) continue;
    const auto [layout, from] = it->second.front();
    const PlanValue& value = plan_.values[static_cast<size_t>(from)];
    if (value.dtype != DType::kFloat32 || value.storage == Storage::kTensor) continue;
    const int32_t to = new_value(v, layout);
    plan_.steps.push_back({.tactic = "planted_fault",
                           .inputs = {from},
                           .outputs = {to},
                           .in_place = {{0, 0}},
                           .origins = origins});
    it->second = {{layout, to}};
    fault_planted_ = true;
  }
}

/// Also takes an error of a tactic's library for a refusal.
std::string try_lower(const TacticDef& tactic, const Problem& problem, Draft& draft) {
  try {
    return tactic.lower(problem, draft);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    return fmt::format("its library refuses ({})", e.what());
  }
}

void Lowering::lower(Node& n) {
  std::vector<Refusal> refusals;
  if (const auto it = dissolved_.find(&n); it != dissolved_.end()) refusals = it->second;
  const GraphProblem problem(n, *this);
  for (const TacticDef* tactic : tactics_for(n)) {
    std::string reason = tactic->supports(problem);
    if (reason.empty()) {
      Draft draft;
      reason = try_lower(*tactic, problem, draft);
      if (reason.empty()) reason = refuse_tensors(draft, *tactic);
      if (reason.empty()) {
        commit(draft, *tactic, n, std::move(refusals));
        if (!config_.planted_fault.empty()) plant_fault(n);
        return;
      }
    }
    refusals.push_back({std::string(tactic->name), std::move(reason)});
  }
  require(is_region(n), ErrorCode::kInternal, "no tactic runs it: {}", refusals.back().reason);
  // Its nodes may have tactics of their own; they remember why the region has none.
  const std::vector<Node*> nodes = dissolve_region(n);
  for (Node* inner : nodes) {
    dissolved_[inner] = refusals;
    with_context([&] { return "at node " + inner->label(); }, [&] { lower(*inner); });
  }
}

void Lowering::add_outputs() {
  for (const Value* v : model_.graph->outputs) {
    const bool tensor = shape_of(v) == nullptr || bit_width(v->type.dtype) == 0;
    plan_.outputs.push_back(tensor ? places_.at(v).front().second : place_of(v, {}));
  }
}

LoweredPlan Lowering::run() {
  Graph& g = *model_.graph;
  plan_.threads = config_.threads;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    const Value* v = g.inputs[i];
    const DType dtype = v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
    const int32_t id = new_value(v->name(), dtype, shape_of(v), {}, Storage::kInput, static_cast<int32_t>(i));
    places_[v] = {{Layout(), id}};
    plan_.inputs.push_back(id);
  }
  // What is given out without being computed passes through a node, so that there is a step to write it.
  for (Value*& v : g.outputs) {
    if (v->producer() != nullptr) continue;
    Value* given = g.add_value(g.unique_name(v->name() + "/output"), v->type);
    g.add_node("Identity", {v}, {given}, {}, v->name());
    v = given;
  }
  std::vector<Node*> order;
  for (const auto& n : g.nodes()) order.push_back(n.get());
  for (Node* n : order) with_context([&] { return "at node " + n->label(); }, [&] { lower(*n); });
  add_outputs();
  require(config_.planted_fault.empty() || fault_planted_, ErrorCode::kNotFound,
          "the fault was to be planted at node '{}', which gives no float32 result in this plan",
          config_.planted_fault);
  return std::move(lowered_);
}

}  // namespace

LoweredPlan lower_graph(Model& model, const BuildConfig& config, ConstantCache& cache) {
  return Lowering(model, config, cache).run();
}

}  // namespace assay::engine
