#include "debug/marker_reduction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "assay/edit.h"
#include "assay/error.h"
#include "assay/fold.h"
#include "graph/clone.h"

namespace assay::debug {
namespace {

/// Which node's outputs, or inputs, are tried to be the model's.
class Marker {
 public:
  Marker(ReductionMode mode, size_t nodes, bool from_inputs)
      : is_bisection_(mode == ReductionMode::kBisect),
        nodes_(static_cast<int64_t>(nodes)),
        from_inputs_(from_inputs) {
    at_ = is_bisection_ ? nodes_ / 2 : from_inputs ? 0 : nodes_ - 1;
    bad_ = from_inputs ? 0 : nodes_;
    good_ = from_inputs ? nodes_ : 0;
    fewest_ = nodes_ + 1;
  }

  size_t node() const { return static_cast<size_t>(at_); }
  bool has_ended() const { return is_bisection_ ? std::abs(good_ - bad_) <= 1 : at_ < 0 || at_ >= nodes_; }
  size_t remaining() const {
    const double all =
        is_bisection_ ? std::ceil(std::log2(static_cast<double>(nodes_))) : static_cast<double>(nodes_);
    return static_cast<size_t>(std::max(0.0, all - static_cast<double>(steps_)));
  }

  void step(bool passed, int64_t left) {
    ++steps_;
    if (passed) {
      passing_[left] = at_;
    } else if (left <= fewest_) {
      fewest_ = left;
      best_bad_ = at_;
    }
    if (!is_bisection_) {
      at_ += from_inputs_ ? 1 : -1;
      return;
    }
    (passed ? good_ : bad_) = at_;
    const int64_t sum = good_ + bad_;
    at_ = passed ? (sum + 1) / 2 : sum / 2;
  }

  std::optional<size_t> best_bad() const {
    return best_bad_ ? std::optional<size_t>(*best_bad_) : std::nullopt;
  }
  /// Where a part passes that is a little smaller, else the smallest larger one.
  std::optional<size_t> best_good() const {
    if (passing_.empty()) return std::nullopt;
    auto it = passing_.lower_bound(fewest_);
    if (it != passing_.begin()) --it;
    return static_cast<size_t>(it->second);
  }

 private:
  bool is_bisection_;
  int64_t nodes_;
  bool from_inputs_;
  int64_t at_ = 0, good_ = 0, bad_ = 0, steps_ = 0, fewest_ = 0;
  std::optional<int64_t> best_bad_;
  std::map<int64_t, int64_t> passing_;  ///< nodes that were left: where it was marked
};

std::vector<const Value*> variables_of(const Node& n, bool inputs) {
  std::vector<const Value*> result;
  for (const Value* v : inputs ? n.inputs() : n.outputs())
    if (v != nullptr && !(inputs && v->is_constant()) &&
        std::find(result.begin(), result.end(), v) == result.end())
      result.push_back(v);
  return result;
}

std::vector<std::string> names_of(const std::vector<const Value*>& values) {
  std::vector<std::string> names;
  for (const Value* v : values) names.push_back(v->name());
  return names;
}

class MarkerReduction {
 public:
  MarkerReduction(const std::shared_ptr<Model>& model, const ReductionOptions& options,
                  Iterations& iterations, ReductionObserver& observer)
      : original_(model), options_(options), iterations_(iterations), observer_(observer) {}

  Reduction run() {
    std::shared_ptr<Model> bad = clone_model(*original_);
    std::shared_ptr<Model> good = options_.wants_good ? clone_model(*original_) : nullptr;
    if (options_.reduce_outputs) reduce_ends(bad, good, false);
    if (options_.reduce_inputs) reduce_ends(bad, good, true);
    repair(*bad);
    if (good != nullptr) {
      clean(*good);
      repair(*good);
    }
    return {.bad = bad, .good = good};
  }

 private:
  static void clean(Model& model) {
    cleanup(*model.graph, {.remove_unused_graph_inputs = true, .recurse_subgraphs = false});
  }

  /// Makes these the model's inputs or outputs.
  void mark(Model& model, const std::vector<std::string>& names, bool inputs, bool in_iteration) {
    Graph& g = *model.graph;
    std::vector<Value*> values;
    std::vector<const Value*> told;
    for (const std::string& name : names) {
      values.push_back(g.find_value(name));
      told.push_back(values.back());
    }
    observer_.mark(inputs, told, in_iteration);
    if (!inputs) {
      g.outputs = values;
      return;
    }
    g.inputs = values;
    for (const Value* v : values)
      if (v->producer() != nullptr)  // its other results cannot be had without it
        std::erase_if(g.outputs, [&](const Value* o) { return o->producer() == v->producer(); });
  }

  /// What an evaluation of the whole model found.
  const std::unordered_map<std::string, Tensor>& values() {
    if (values_.empty()) {
      require(static_cast<bool>(options_.evaluate), ErrorCode::kUnsupported,
              "the model would have to be evaluated, and cannot be");
      observer_.evaluate();
      options_.evaluate(original_,
                        [&](const std::string& name, const Tensor& value) { values_.emplace(name, value); });
    }
    return values_;
  }

  void complete(Value& v, bool needs_shape) {
    const bool lacks_type =
        v.type.kind == Type::Kind::kUnknown || (v.type.is_tensor() && v.type.dtype == DType::kUndefined);
    const bool lacks_shape =
        needs_shape && (v.type.kind == Type::Kind::kUnknown || (v.type.is_tensor() && !v.type.has_shape()));
    if (!lacks_type && !lacks_shape) return;
    const auto it = values().find(v.name());
    if (it == values_.end() || it->second.is_container()) return;
    const DType dtype = lacks_type ? it->second.dtype() : v.type.dtype;
    v.type = Type::tensor(dtype, it->second.shape());
  }

  /// Gives inputs and outputs their types, and branches that are left out their values.
  void repair(Model& model) {
    Graph& g = *model.graph;
    for (Value* v : g.inputs) complete(*v, true);
    for (Value* v : g.outputs) complete(*v, false);
    std::vector<Value*> frozen;
    for (Value* v : tensors(g))
      if (!v->is_constant() && v->producer() == nullptr &&
          std::find(g.inputs.begin(), g.inputs.end(), v) == g.inputs.end())
        frozen.push_back(v);
    for (Value* v : frozen) {
      const auto it = values().find(v->name());
      require(it != values_.end() && !it->second.is_container(), ErrorCode::kUnsupported,
              "the value of '{}', which the part needs, is not known", v->name());
      observer_.freeze(*v, !has_frozen_);
      has_frozen_ = true;
      v->set_tensor(it->second);
    }
    if (frozen.empty()) return;
    fold_constants(model);
    clean(model);
  }

  void reduce_ends(std::shared_ptr<Model>& bad, std::shared_ptr<Model>& good, bool inputs) {
    const std::string what = inputs ? "inputs" : "outputs";
    observer_.begin_phase(what);
    const Graph& g = *bad->graph;
    Marker marker(options_.mode, g.nodes().size(), inputs);
    iterations_.begin(what);
    while (!g.nodes().empty()) {
      std::shared_ptr<Model> candidate;
      const Iterations::Result result = iterations_.run(
          {.write =
               [&](const std::string& path) {
                 candidate = clone_model(*bad);
                 mark(*candidate, names_of(variables_of(*g.nodes()[marker.node()], inputs)), inputs, true);
                 clean(*candidate);
                 repair(*candidate);
                 observer_.save_candidate(path);
                 options_.save(*candidate, path);
               },
           .question = {},
           .state =
               [&] {
                 return std::map<std::string, int64_t>{
                     {"num_nodes", static_cast<int64_t>(candidate->graph->nodes().size())}};
               },
           .remaining = marker.remaining(),
           .instead = {}});
      const auto left = result.state.find("num_nodes");
      require(left != result.state.end(), ErrorCode::kInvalidArgument,
              "the replay does not say how many nodes an iteration had");
      marker.step(result.answer.passed(), left->second);
      if (marker.has_ended()) break;
    }
    iterations_.end();
    observer_.end_phase(what, 0);
    const std::vector<std::string> before =
        names_of({(inputs ? g.inputs : g.outputs).begin(), (inputs ? g.inputs : g.outputs).end()});
    const auto ends = [&](std::optional<size_t> node) {
      return node ? names_of(variables_of(*g.nodes()[*node], inputs)) : before;
    };
    const std::vector<std::string> bad_ends = ends(marker.best_bad()), good_ends = ends(marker.best_good());
    mark(*bad, bad_ends, inputs, false);
    clean(*bad);
    if (good != nullptr && std::all_of(good_ends.begin(), good_ends.end(),
                                       [&](const auto& n) { return good->graph->find_value(n) != nullptr; }))
      mark(*good, good_ends, inputs, false);
  }

  const std::shared_ptr<Model>& original_;
  const ReductionOptions& options_;
  Iterations& iterations_;
  ReductionObserver& observer_;
  std::unordered_map<std::string, Tensor> values_;
  bool has_frozen_ = false;
};

}  // namespace

Reduction reduce_by_markers(const std::shared_ptr<Model>& model, const ReductionOptions& options,
                            Iterations& iterations, ReductionObserver& observer) {
  return MarkerReduction(model, options, iterations, observer).run();
}

}  // namespace assay::debug
