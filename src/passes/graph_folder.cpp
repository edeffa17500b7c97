#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/edit.h"
#include "assay/fold.h"
#include "graph/order.h"
#include "passes/cast_elision.h"
#include "passes/flatten_if.h"
#include "passes/match.h"
#include "reference/evaluate.h"
#include "reference/fragment.h"
#include "reference/interpreter.h"

namespace assay {
namespace {

/// Results of one node larger than this are not even computed.
constexpr int64_t kMaxBytes = int64_t{1} << 32;

bool has_subgraph(const Node& n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(), [](const Attribute& a) {
    return a.get_if<std::shared_ptr<Graph>>() != nullptr || a.get_if<Attribute::Graphs>() != nullptr;
  });
}

bool refers_to_parameters(const Node& n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(),
                     [](const Attribute& a) { return !a.ref_attr_name.empty(); });
}

bool is_quantization(const Node& n) {
  return is_op(n, "QuantizeLinear") || is_op(n, "DequantizeLinear") || is_op(n, "DynamicQuantizeLinear");
}

/// Folds one graph.
class Folder {
 public:
  Folder(Model& model, Graph& graph, const FoldOptions& options, FoldReport& report)
      : model_(model), graph_(graph), options_(options), report_(report) {}

  void run() {
    lower_constants();
    if (options_.fold_shapes) report_.elided_casts += elide_shape_casts(graph_);
    for (Node* n : depth_first_order(graph_)) visit(*n);
    keep_large_results();
    write_back();
  }

 private:
  /// Constant nodes become constants in place.
  void lower_constants() {
    std::vector<std::pair<Value*, Tensor>> found;
    for (const auto& n : graph_.nodes()) {
      if (!is_op(*n, "Constant") || n->output(0) == nullptr || refers_to_parameters(*n)) continue;
      if (n->find_attribute("sparse_value") != nullptr || n->find_attribute("value_string") != nullptr ||
          n->find_attribute("value_strings") != nullptr)
        continue;
      if (const BoundOp op = bind_op(*n, model_)) {
        found.emplace_back(n->output(0), evaluate_node(*n, op, {})[0]);
        n->set_outputs({});
      }
    }
    for (auto& [v, tensor] : found) v->set_tensor(std::move(tensor));
  }

  const Tensor* known(const Value* v) const {
    if (const auto it = results_.find(v); it != results_.end()) return &it->second;
    return v->tensor().defined() && !v->is_overridable ? &v->tensor() : nullptr;
  }

  bool all_known(const std::vector<Value*>& values) const {
    return std::all_of(values.begin(), values.end(),
                       [&](const Value* v) { return v == nullptr || known(v) != nullptr; });
  }

  bool may_fold(const Node& n) const {
    // What a subgraph inside a subgraph takes from further out is not among the values that a node uses.
    if (graph_.parent() != nullptr && has_subgraph(n)) return false;
    return !is_quantization(n) && !refers_to_parameters(n) &&
           !(options_.should_exclude_node && options_.should_exclude_node(n));
  }

  void visit(const Node& n) {
    if (n.outputs().empty() || !may_fold(n)) return;
    std::vector<Tensor> y;
    try {
      if (options_.fold_shapes)
        if (std::optional<Tensor> t = from_extents(n)) y = {std::move(*t)};
      if (y.empty()) {
        if (!all_known(n.inputs()) || !all_known(used_values(n))) return;
        y = evaluate(n);
      }
    } catch (const Error& e) {
      if (!options_.error_ok) throw;
      report_.failed.push_back({n.label(), e.what()});
      return;
    }
    if (y.empty() || std::any_of(y.begin(), y.end(), [](const Tensor& t) { return t.is_container(); }))
      return;
    for (size_t i = 0; i < y.size() && i < n.outputs().size(); ++i)
      if (n.output(i) != nullptr) results_[n.output(i)] = std::move(y[i]);
    folded_.push_back(&n);
  }

  std::vector<Tensor> evaluate(const Node& n) const {
    const BoundOp op = bind_op(n, model_);
    if (!op || op.op->random) return {};
    for (const Value* v : n.outputs())
      if (const std::optional<Shape> shape = v != nullptr ? shape_of(v) : std::nullopt)
        if (static_cast<int64_t>(storage_bytes(dtype_of(v), shape->numel())) > kMaxBytes) return {};
    if (has_subgraph(n)) return run_fragment(n);
    std::vector<Tensor> inputs;
    for (const Value* v : n.inputs()) inputs.push_back(v != nullptr ? *known(v) : Tensor());
    return evaluate_node(n, op, std::move(inputs));
  }

  /// A node with subgraphs as a model of its own.
  std::vector<Tensor> run_fragment(const Node& n) const {
    const Fragment fragment = make_fragment(n, model_);
    std::vector<Tensor> feed;
    for (const Value* v : fragment.arguments) feed.push_back(*known(v));
    std::vector<Tensor> y(n.outputs().size());
    Interpreter interpreter(fragment.model, {.precision = ReferencePrecision::kStored});
    const std::vector<Value*>& outputs = fragment.model->graph->outputs;
    interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0, k = 0; i < y.size(); ++i)
        if (n.output(i) != nullptr && outputs[k++] == &v) y[i] = lanes[0];
    });
    return y;
  }

  /// What a Shape node's input is, if the node is one.
  static const Dims* dims_behind(const Value* v) {
    const Node* n = v != nullptr ? producer_of(v, "Shape") : nullptr;
    return n != nullptr && n->input(0) != nullptr && n->input(0)->type.has_shape() ? &*n->input(0)->type.dims
                                                                                   : nullptr;
  }

  /// The extents that Shape gives, its `start` and `end` taken into account.
  static std::vector<Dim> extents(const Node& shape, const Dims& dims) {
    const auto rank = static_cast<int64_t>(dims.size());
    const auto bound = [&](std::string_view name, int64_t fallback) {
      const int64_t i = int_attribute(shape, name, fallback);
      return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
    };
    const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
    return {dims.begin() + start, dims.begin() + end};
  }

  static std::optional<Tensor> to_tensor(const std::vector<Dim>& dims) {
    std::vector<int64_t> values;
    for (const Dim& d : dims) {
      if (!d.is_known()) return std::nullopt;
      values.push_back(d.value());
    }
    return Tensor::vector(values);
  }

  /// Shape, Size, and Gather or Slice of a Shape, as far as the extents that they look at are known.
  std::optional<Tensor> from_extents(const Node& n) const {
    const Value* x = n.input(0);
    if (x == nullptr) return std::nullopt;
    if ((is_op(n, "Shape") || is_op(n, "Size")) && x->type.has_shape()) {
      if (is_op(n, "Shape")) return to_tensor(extents(n, *x->type.dims));
      const std::optional<Shape> shape = known_shape(*x->type.dims);
      return shape ? std::optional(Tensor::scalar(shape->numel())) : std::nullopt;
    }
    const Dims* dims = dims_behind(x);
    if (dims == nullptr) return std::nullopt;
    const std::vector<Dim> all = extents(*x->producer(), *dims);
    if (is_op(n, "Gather")) return gathered(n, all);
    if (is_op(n, "Slice")) return sliced(n, all);
    return std::nullopt;
  }

  std::optional<Tensor> gathered(const Node& n, const std::vector<Dim>& all) const {
    const Tensor* indices = n.input(1) != nullptr ? known(n.input(1)) : nullptr;
    if (indices == nullptr || !is_integer(indices->dtype()) || indices->shape().rank() > 1)
      return std::nullopt;
    std::vector<Dim> picked;
    for (int64_t i : indices->to_int64()) {
      const auto rank = static_cast<int64_t>(all.size());
      if (i < -rank || i >= rank) return std::nullopt;
      picked.push_back(all[static_cast<size_t>(i < 0 ? i + rank : i)]);
    }
    std::optional<Tensor> t = to_tensor(picked);
    if (t) t = t->reshaped(indices->shape());
    return t;
  }

  /// One number of a Slice: an attribute in old opsets, an input in new ones; nothing when it is not known.
  std::optional<int64_t> slice_number(const Node& n, const char* attribute, size_t input,
                                      int64_t fallback) const {
    std::vector<int64_t> list = ints_attribute(n, attribute);
    if (const Value* v = n.input(input)) {
      const Tensor* t = known(v);
      if (t == nullptr || !is_integer(t->dtype())) return std::nullopt;
      list = t->to_int64();
    } else if (list.empty()) {
      return fallback;
    }
    return list.size() == 1 ? std::optional(list[0]) : std::nullopt;
  }

  std::optional<Tensor> sliced(const Node& n, const std::vector<Dim>& all) const {
    const auto rank = static_cast<int64_t>(all.size());
    const auto start = slice_number(n, "starts", 1, INT64_MIN), end = slice_number(n, "ends", 2, INT64_MIN),
               axis = slice_number(n, "axes", 3, 0), step = slice_number(n, "steps", 4, 1);
    if (!start || !end || *start == INT64_MIN || *end == INT64_MIN || !step || *step == 0)
      return std::nullopt;
    if (!axis || (*axis != 0 && *axis != -1)) return std::nullopt;
    // Python's slice of a list.
    const auto clamped = [&](int64_t i) {
      if (i < 0) i = std::max<int64_t>(i, -rank - 1) + rank;
      return *step > 0 ? std::clamp<int64_t>(i, 0, rank) : std::clamp<int64_t>(i, -1, rank - 1);
    };
    std::vector<Dim> picked;
    const int64_t last = clamped(*end);
    for (int64_t i = clamped(*start); *step > 0 ? i < last : i > last; i += *step) {
      picked.push_back(all[static_cast<size_t>(i)]);
      if (picked.size() > all.size()) break;
    }
    return to_tensor(picked);
  }

  /// Bytes of the initializers that a folded node uses and nobody else: they go when it does.
  int64_t freed_by(const Node& n) const {
    int64_t bytes = 0;
    for (const Value* v : used_values(n))
      if (v->consumers().size() == 1) {
        const Tensor* t = known(v);
        bytes += t != nullptr ? static_cast<int64_t>(t->nbytes()) : 0;
      }
    return bytes;
  }

  /// Takes results back that would have to be stored and are too large; then their inputs have to be stored.
  void keep_large_results() {
    std::unordered_set<const Node*> inside(folded_.begin(), folded_.end());
    const std::unordered_set<const Value*> given(graph_.outputs.begin(), graph_.outputs.end());
    // Backwards, so that a node taken back is seen by those before it.
    for (auto it = folded_.rbegin(); it != folded_.rend(); ++it) {
      const Node& n = **it;
      int64_t bytes = 0;
      bool stored = false;
      for (const Value* v : n.outputs()) {
        if (v == nullptr) continue;
        const auto& users = v->consumers();
        const bool leaves = given.contains(v) || std::any_of(users.begin(), users.end(), [&](const Node* c) {
                              return !inside.contains(c);
                            });
        stored = stored || leaves;
        const auto result = results_.find(v);
        if (leaves && result != results_.end()) bytes += static_cast<int64_t>(result->second.nbytes());
      }
      const int64_t limit = options_.size_threshold ? *options_.size_threshold : freed_by(n) + kMaxGrowth;
      if (!stored || bytes <= limit) continue;
      report_.too_large.push_back(
          {n.label(), options_.size_threshold
                          ? fmt::format("its result has {} bytes, above the threshold of {}", bytes, limit)
                          : fmt::format("its result of {} bytes would make the model larger by more than {}",
                                        bytes, kMaxGrowth)});
      inside.erase(&n);
      for (const Value* v : n.outputs()) results_.erase(v);
    }
    std::erase_if(folded_, [&](const Node* n) { return !inside.contains(n); });
  }

  void write_back() {
    for (const Node* n : folded_) {
      auto* node = const_cast<Node*>(n);
      const std::vector<Value*> outputs = node->outputs();
      node->set_outputs({});
      for (Value* v : outputs)
        if (v != nullptr) v->set_tensor(std::move(results_.at(v)));
    }
    report_.folded_nodes += static_cast<int64_t>(folded_.size());
  }

  Model& model_;
  Graph& graph_;
  const FoldOptions& options_;
  FoldReport& report_;
  std::unordered_map<const Value*, Tensor> results_;
  std::vector<const Node*> folded_;
};

void fold_graph(Model& model, Graph& graph, const FoldOptions& options, FoldReport& report) {
  Folder(model, graph, options, report).run();
  if (options.recurse_subgraphs)
    for (Graph* g : subgraphs(graph)) fold_graph(model, *g, options, report);
  if (options.flatten_subgraphs) report.flattened_ifs += flatten_constant_ifs(graph);
}

}  // namespace

FoldReport fold_constants(Model& model, const FoldOptions& options) {
  check_depth(model);
  FoldReport report;
  fold_graph(model, *model.graph, options, report);
  if (options.recurse_functions)
    for (auto f = model.functions.rbegin(); f != model.functions.rend(); ++f)
      fold_graph(model, *f->body, options, report);
  return report;
}

}  // namespace assay
