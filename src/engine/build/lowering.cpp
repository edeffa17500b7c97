#include "engine/build/lowering.h"

#include <algorithm>
#include <map>

#include "engine/tactics/tactic_list.h"
#include "passes/origins.h"

namespace assay::engine {

namespace {

/// A tensor that keeps `made` alive.
Tensor held(const std::shared_ptr<const Tensor>& made) {
  return Tensor::view(made->dtype(), made->shape(), made->data(), made);
}

}  // namespace

Tensor ConstantCache::get(const UnalignedTensor& source, const std::string& packing,
                          const std::function<Tensor()>& make) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = entries_.equal_range(packing);
  for (auto it = first; it != last; ++it) {
    const UnalignedTensor& known = it->second.source;
    if (known.data() != source.data() || known.dtype() != source.dtype() || known.shape() != source.shape())
      continue;
    if (const std::shared_ptr<const Tensor> made = it->second.made.lock()) return held(made);
    entries_.erase(it);
    break;
  }
  if (entries_.size() >= limit_) forget_unused();
  const auto made = std::make_shared<const Tensor>(make());
  entries_.emplace(packing, Entry{source, made});
  return held(made);
}

size_t ConstantCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void ConstantCache::forget_unused() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.made.expired(); });
  limit_ = std::max<size_t>(16, 2 * entries_.size());
}

namespace {

class Lowering {
 public:
  Lowering(const Model& model, OptionMaker& maker, int threads, ConstantCache& cache, bool make_constants)
      : graph_(*model.graph), maker_(maker), cache_(cache), make_constants_(make_constants) {
    plan_.threads = threads;
  }

  LoweredPlan run(std::span<const Choice> choices) {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Value* v = graph_.inputs[i];
      const DType dtype = v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
      const int32_t id =
          new_value(v->name(), dtype, maker_.shape_of(v), {}, Storage::kInput, static_cast<int32_t>(i));
      places_[v] = {{Layout(), id}};
      plan_.inputs.push_back(id);
    }
    for (const Choice& c : choices)
      with_context([&] { return "at node " + c.region.main->label(); }, [&] { write(c); });
    for (const Value* v : graph_.outputs) {
      const bool tensor = maker_.shape_of(v) == nullptr || bit_width(v->type.dtype) == 0;
      plan_.outputs.push_back(tensor ? places_.at(v).front().second : place_of(v, {}));
    }
    return std::move(lowered_);
  }

 private:
  /// A graph value's places, the layout it was made in first.
  using Places = std::vector<std::pair<Layout, int32_t>>;

  int32_t new_value(const std::string& name, DType dtype, const Shape* shape, Layout layout, Storage storage,
                    int32_t slot) {
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

  int32_t new_value(const Value* v, Layout layout) {
    const Shape* shape = maker_.shape_of(v);
    const DType dtype = v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
    const bool raw = shape != nullptr && bit_width(dtype) != 0;
    return new_value(v->name(), dtype, shape, layout, raw ? Storage::kArena : Storage::kTensor, -1);
  }

  int32_t new_constant(PlanConstant constant, DType dtype, const Shape& shape, Layout layout) {
    const std::string name = constant.name;
    plan_.constants.push_back(std::move(constant));
    return new_value(name, dtype, &shape, layout, Storage::kConstant,
                     static_cast<int32_t>(plan_.constants.size() - 1));
  }

  /// A constant of the model. Few are wanted in blocks: per-element operands of a blocked convolution.
  int32_t constant_value(const Value* v, Layout layout) {
    const UnalignedTensor& t = v->tensor();
    PlanConstant constant{.name = v->name()};
    if (make_constants_) constant.tensor = t.aligned();
    if (!same_memory(t.shape(), layout, {})) {
      constant.packing = layout.str();
      if (make_constants_) constant.tensor = blocked(constant.tensor, layout);
    }
    return new_constant(std::move(constant), t.dtype(), t.shape(), layout);
  }

  static Tensor blocked(const Tensor& t, Layout layout) {
    const auto elements = static_cast<int64_t>(layout_bytes(t.dtype(), t.shape(), layout) / sizeof(float));
    Tensor stored = Tensor::zeros(t.dtype(), Shape{elements});
    const int64_t channels = t.dim(1), inner = t.shape().numel(2, t.shape().size()), block = layout.block;
    const int64_t blocks = (channels + block - 1) / block;
    const float* from = t.data<float>();
    float* to = stored.mutable_data<float>();
    for (int64_t i = 0; i < t.numel(); ++i) {
      const int64_t n = i / inner / channels, c = i / inner % channels, at = i % inner;
      to[((n * blocks + c / block) * inner + at) * block + c % block] = from[i];
    }
    return stored;
  }

  /// A constant that a step makes of one of the model's. One that several steps make in the same way is there
  /// once.
  int32_t own_constant(const Candidate::Operand& o) {
    const auto key = std::pair(o.source.data(), o.key);
    if (const auto it = own_constants_.find(key); it != own_constants_.end()) return it->second;
    Tensor made;
    if (make_constants_) made = cache_.get(o.source, o.key, o.make);
    const int32_t id =
        new_constant({.name = o.name, .tensor = made, .packing = o.key}, made.dtype(), made.shape(), {});
    own_constants_.emplace(key, id);
    return id;
  }

  int32_t reorder(const Value* v, int32_t from, Layout layout) {
    const int32_t to = new_value(v, layout);
    const PlanValue& source = plan_.values[static_cast<size_t>(from)];
    if (same_memory(source.shape, source.layout, layout)) {
      lowered_.aliases[static_cast<size_t>(to)] = {from, 0};
      return to;
    }
    plan_.steps.push_back({.tactic = "reorder", .inputs = {from}, .outputs = {to}});
    return to;
  }

  int32_t place_of(const Value* v, Layout layout) {
    Places& places = places_[v];
    for (const auto& [have, id] : places)
      if (have == layout) return id;
    int32_t id;
    if (v->tensor().defined()) {
      id = constant_value(v, layout);
    } else {
      require(!places.empty(), ErrorCode::kInternal, "the value '{}' is used before it is computed",
              v->name());
      id = reorder(v, places.front().second, layout);
    }
    places_[v].emplace_back(layout, id);
    return id;
  }

  void write(const Choice& choice) {
    const Candidate& c = choice.option().candidate;
    for (const Candidate::View& view : c.views) {
      const int32_t source = place_of(view.source, view.source_layout);
      const int32_t id = new_value(view.value, view.layout);
      lowered_.aliases[static_cast<size_t>(id)] = {source, view.offset};
      places_[view.value] = {{view.layout, id}};
    }
    if (!c.views.empty()) return;
    Step step = c.step;
    step.tactic = std::string(choice.option().tactic->name);
    step.variant = c.variant;
    step.origins = origins_of(choice.region);
    step.refusals = choice.options.refusals;
    for (const Candidate::Operand& o : c.inputs)
      step.inputs.push_back(o.value != nullptr ? place_of(o.value, o.layout) : o.make ? own_constant(o) : -1);
    for (const Candidate::Operand& o : c.outputs) {
      if (o.value == nullptr) {
        step.outputs.push_back(-1);
        continue;
      }
      const int32_t id = new_value(o.value, o.layout);
      places_[o.value] = {{o.layout, id}};
      step.outputs.push_back(id);
    }
    for (const auto& make : c.networks) {
      step.networks.push_back(static_cast<int32_t>(plan_.networks.size()));
      plan_.networks.push_back({make()});
    }
    plan_.steps.push_back(std::move(step));
  }

  const Graph& graph_;
  OptionMaker& maker_;
  ConstantCache& cache_;
  bool make_constants_;
  LoweredPlan lowered_;
  Plan& plan_ = lowered_.plan;
  std::unordered_map<const Value*, Places> places_;
  std::map<std::pair<const void*, std::string>, int32_t> own_constants_;
};

}  // namespace

LoweredPlan lower_choices(const Model& model, OptionMaker& maker, std::span<const Choice> choices,
                          int threads, ConstantCache& cache, bool make_constants) {
  return Lowering(model, maker, threads, cache, make_constants).run(choices);
}

}  // namespace assay::engine
