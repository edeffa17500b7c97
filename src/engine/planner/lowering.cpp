#include "engine/planner/lowering.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/resident_memory.h"
#include "engine/tactics/move/reorder.h"
#include "graph/read.h"
#include "naming/origins.h"

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
  if (made->data() != source.data()) drop_after_use(source.data(), source.nbytes());
  entries_.emplace(packing, Entry{source, made});
  return held(made);
}

void ConstantCache::release(const void* source) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.source.data() == source; });
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

/// Scales and zero points are looked up from wherever their node's result is read (quantization_of()).
bool is_looked_up(const Node& consumer) {
  return is_op(consumer, "QuantizeLinear") || is_op(consumer, "DequantizeLinear");
}

/// Constants of the main graph by the last choice that uses them, each list in the order of the graph.
/// Those with uses outside of the choices, in bodies or as an output, are in none.
std::vector<std::vector<Value*>> last_uses(const Graph& g, std::span<const Choice> choices) {
  std::unordered_map<const Node*, size_t> last;
  for (size_t i = 0; i < choices.size(); ++i)
    for (const Node* n : choices[i].region.nodes) last[n] = i;
  std::vector<std::vector<Value*>> uses(choices.size());
  for (const std::unique_ptr<Value>& v : g.values()) {
    const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), v.get()) != g.outputs.end();
    if (!v->tensor().defined() || v->consumers().empty() || is_output) continue;
    size_t at = 0;
    const bool known = std::all_of(v->consumers().begin(), v->consumers().end(), [&](const Node* n) {
      const auto it = last.find(n);
      if (it != last.end()) at = std::max(at, it->second);
      return it != last.end() && !is_looked_up(*n);
    });
    if (known) uses[at].push_back(v.get());
  }
  return uses;
}

class Lowering {
 public:
  Lowering(Model& model, OptionMaker& maker, int threads, ConstantCache& cache, ConstantUse use)
      : graph_(*model.graph), maker_(maker), cache_(cache), use_(use) {
    plan_.threads = threads;
  }

  LoweredPlan run(std::span<Choice> choices) {
    std::vector<std::vector<Value*>> ends;
    if (use_.takes) ends = take(choices);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Value* v = graph_.inputs[i];
      const DType dtype = v->type.is_tensor() ? v->type.dtype : DType::kUndefined;
      const int32_t id =
          new_value(v->name(), dtype, maker_.shape_of(v), {}, Storage::kInput, static_cast<int32_t>(i));
      places_[v] = {{Format(), id}};
      plan_.inputs.push_back(id);
    }
    for (size_t i = 0; i < choices.size(); ++i) {
      Choice& c = choices[i];
      with_context([&] { return node_place(c.region.main->label()); }, [&] { write(c); });
      if (!use_.takes) continue;
      c.options = {};
      for (Value* v : ends[i]) release(*v);
    }
    for (const Value* v : graph_.outputs) {
      const bool tensor = maker_.shape_of(v) == nullptr || bit_width(v->type.dtype) == 0;
      plan_.outputs.push_back(tensor ? places_.at(v).front().second : place_of(v, {}));
    }
    return std::move(lowered_);
  }

 private:
  /// Leaves of each choice what will be written, and says after which one a constant goes.
  std::vector<std::vector<Value*>> take(std::span<Choice> choices) {
    for (Choice& c : choices) {
      Option chosen = std::move(c.options.options[c.chosen]);
      c.options.options.clear();
      c.options.options.push_back(std::move(chosen));
      c.chosen = 0;
    }
    for (const std::unique_ptr<Value>& v : graph_.values())
      if (v->tensor().defined()) ++holders_[v->tensor().data()];
    return last_uses(graph_, choices);
  }

  /// Several values may share an address: it means something until the last of them has gone.
  void release(Value& v) {
    const void* const address = v.tensor().data();
    const auto it = holders_.find(address);
    if (--it->second == 0) {
      holders_.erase(it);
      own_constants_.erase(
          own_constants_.lower_bound({address, std::string()}),
          own_constants_.lower_bound({static_cast<const char*>(address) + 1, std::string()}));
      cache_.release(address);
    }
    v.clear_tensor();
  }

  /// A graph value's places, the format it was made in first.
  using Places = std::vector<std::pair<Format, int32_t>>;

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

  int32_t new_value(const Value* v, Format format) {
    const Shape* shape = maker_.shape_of(v);
    const DType dtype = stored_type(v, format);
    const bool raw = shape != nullptr && bit_width(dtype) != 0;
    return new_value(v->name(), dtype, shape, format.layout, raw ? Storage::kArena : Storage::kTensor, -1);
  }

  int32_t new_constant(PlanConstant constant, DType dtype, const Shape& shape, Layout layout) {
    const std::string name = constant.name;
    plan_.constants.push_back(std::move(constant));
    return new_value(name, dtype, &shape, layout, Storage::kConstant,
                     static_cast<int32_t>(plan_.constants.size() - 1));
  }

  /// A constant of the model. Few are wanted in another layout: per-element operands of a convolution.
  int32_t constant_value(const Value* v, Format format) {
    const UnalignedTensor& t = v->tensor();
    require(format.dtype == DType::kUndefined, ErrorCode::kInternal, "the constant '{}' is wanted as {}",
            v->name(), format.str());
    PlanConstant constant{.name = v->name()};
    // Where the file has it at an odd address it is copied, once for all plans.
    if (use_.has_data)
      constant.tensor =
          t.if_aligned() != nullptr ? *t.if_aligned() : cache_.get(t, "aligned", [&] { return t.aligned(); });
    if (!same_memory(t.shape(), format.layout, {})) {
      constant.packing = format.layout.str();
      if (use_.has_data) constant.tensor = rearranged(constant.tensor, format.layout);
    }
    return new_constant(std::move(constant), t.dtype(), t.shape(), format.layout);
  }

  static Tensor rearranged(const Tensor& t, Layout layout) {
    const size_t width = storage_bytes(t.dtype(), 1);
    Tensor stored = Tensor::zeros(
        t.dtype(), Shape{static_cast<int64_t>(layout_bytes(t.dtype(), t.shape(), layout) / width)});
    if (t.numel() == 0) return stored;
    const int64_t channels = t.dim(1), inner = t.shape().numel(2, t.shape().size());
    const int64_t block = layout.is_channels_last() ? channels : layout.block;
    const int64_t blocks = (channels + block - 1) / block;
    const auto* from = static_cast<const char*>(t.data());
    auto* to = static_cast<char*>(stored.mutable_data());
    for (int64_t i = 0; i < t.numel(); ++i, from += width) {
      const int64_t n = i / inner / channels, c = i / inner % channels, at = i % inner;
      const int64_t place = ((n * blocks + c / block) * inner + at) * block + c % block;
      std::memcpy(to + static_cast<size_t>(place) * width, from, width);
    }
    return stored;
  }

  /// A constant that a step makes of one of the model's. One that several steps make in the same way is there
  /// once.
  int32_t own_constant(const Candidate::Operand& o) {
    const auto key = std::pair(o.source.data(), o.key);
    if (const auto it = own_constants_.find(key); it != own_constants_.end()) return it->second;
    Tensor made;
    if (use_.has_data) made = cache_.get(o.source, o.key, o.make);
    const int32_t id =
        new_constant({.name = o.name, .tensor = made, .packing = o.key}, made.dtype(), made.shape(), {});
    own_constants_.emplace(key, id);
    if (use_.takes && !holders_.contains(o.source.data())) kept_.push_back(o.source);
    return id;
  }

  /// A place of the value in another format than `from`, with the places on the way.
  int32_t reorder(const Value* v, Format from, int32_t id, Format to) {
    const Shape* shape = maker_.shape_of(v);
    const std::vector<Format> path =
        shape == nullptr ? std::vector<Format>() : reorder_path(*v, *shape, from, to);
    if (path.empty()) {
      const int32_t same = new_value(v, to);
      lowered_.aliases[static_cast<size_t>(same)] = {id, 0};
      return same;
    }
    for (const Format& next : path) {
      ReorderStep made = make_reorder(*v, *shape, from, next);
      const int32_t made_id = new_value(v, next);
      Step& step = plan_.steps.emplace_back(std::move(made.candidate.step));
      step.tactic = std::string(made.tactic->name);
      step.inputs = {id};
      step.outputs = {made_id};
      if (next != path.back()) places_[v].emplace_back(next, made_id);
      from = next;
      id = made_id;
    }
    return id;
  }

  int32_t place_of(const Value* v, Format format) {
    Places& places = places_[v];
    for (const auto& [have, id] : places)
      if (have == format) return id;
    int32_t id;
    if (v->tensor().defined()) {
      id = constant_value(v, format);
    } else {
      require(!places.empty(), ErrorCode::kInternal, "the value '{}' is used before it is computed",
              v->name());
      const auto [made_in, first] = places.front();
      id = reorder(v, made_in, first, format);
    }
    places_[v].emplace_back(format, id);
    return id;
  }

  std::vector<int32_t> networks_of(const Candidate& c) {
    if (const auto it = shared_networks_.find(c.shares_networks); it != shared_networks_.end())
      return it->second;
    std::vector<int32_t> networks;
    for (const auto& make : c.networks) {
      networks.push_back(static_cast<int32_t>(plan_.networks.size()));
      plan_.networks.push_back({make()});
    }
    if (c.shares_networks != nullptr) shared_networks_.emplace(c.shares_networks, networks);
    return networks;
  }

  void write(const Choice& choice) {
    const Candidate& c = choice.option().candidate;
    for (const Candidate::View& view : c.views) {
      const int32_t source = place_of(view.source, view.source_format);
      const int32_t id = new_value(view.value, view.format);
      lowered_.aliases[static_cast<size_t>(id)] = {source, view.offset};
      places_[view.value] = {{view.format, id}};
    }
    if (!c.views.empty()) return;
    Step step = c.step;
    step.tactic = std::string(choice.option().tactic->name);
    step.variant = c.variant;
    step.origins = origins_of(choice.region);
    step.refusals = choice.options.refusals;
    step.computes = computed_type(choice.region, c, maker_.holds(), maker_.model());
    step.why = choice.why;
    for (const Candidate::Operand& o : c.inputs)
      step.inputs.push_back(o.value != nullptr ? place_of(o.value, o.format) : o.make ? own_constant(o) : -1);
    for (const Candidate::Operand& o : c.outputs) {
      if (o.value == nullptr) {
        step.outputs.push_back(-1);
        continue;
      }
      const int32_t id = new_value(o.value, o.format);
      places_[o.value] = {{o.format, id}};
      step.outputs.push_back(id);
    }
    step.networks = networks_of(c);
    plan_.steps.push_back(std::move(step));
  }

  Graph& graph_;
  OptionMaker& maker_;
  ConstantCache& cache_;
  ConstantUse use_;
  std::unordered_map<const void*, int> holders_;  ///< values whose constant lies there
  /// Sources that no value of the graph has, such as quantized weights: their addresses are keys.
  std::vector<UnalignedTensor> kept_;
  LoweredPlan lowered_;
  Plan& plan_ = lowered_.plan;
  std::unordered_map<const Value*, Places> places_;
  std::map<std::pair<const void*, std::string>, int32_t> own_constants_;
  std::unordered_map<const void*, std::vector<int32_t>> shared_networks_;
};

}  // namespace

LoweredPlan lower_choices(Model& model, OptionMaker& maker, std::span<Choice> choices, int threads,
                          ConstantCache& cache, ConstantUse use) {
  return Lowering(model, maker, threads, cache, use).run(choices);
}

}  // namespace assay::engine
