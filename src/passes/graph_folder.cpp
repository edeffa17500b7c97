#include <algorithm>
#include <unordered_map>

#include "analysis/match.h"
#include "assay/edit.h"
#include "assay/fold.h"
#include "assay/interrupt.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "passes/cast_elision.h"
#include "passes/flatten_if.h"
#include "passes/fold_choice.h"
#include "passes/node_evaluator.h"
#include "passes/shape_folder.h"

namespace assay {
namespace {

bool refers_to_parameters(const Node& n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(),
                     [](const Attribute& a) { return !a.ref_attr_name.empty(); });
}

/// Of any domain: they mark what a quantised engine fuses.
bool is_quantization(const Node& n) {
  return n.op_type == "QuantizeLinear" || n.op_type == "DequantizeLinear" ||
         n.op_type == "DynamicQuantizeLinear";
}

/// Folds one graph. `scope` has the opsets that hold in it.
class Folder {
 public:
  Folder(const Model& model, const LocalFunctions& functions, const Model& scope, Graph& graph,
         const FoldOptions& options, FoldReport& report)
      : scope_(scope),
        graph_(graph),
        options_(options),
        report_(report),
        is_body_(&model != &scope && graph.parent() == nullptr),
        shapes_(scope, [this](const Value* v) { return known(v); }),
        evaluator_(
            model, functions, scope, [this](const Value* v) -> const UnalignedTensor& { return *known(v); },
            options.max_work) {}

  void run() {
    lower_constants();
    if (options_.fold_shapes) report_.elided_casts += elide_shape_casts(graph_, scope_);
    for (Node* n : depth_first_order(graph_)) {
      stop_if_interrupted();
      visit(*n);
    }
    write_back();
  }

 private:
  /// Constant nodes become constants in place; in the body of a function, which has no initializers, they
  /// stay.
  void lower_constants() {
    for (const auto& n : graph_.nodes()) {
      Value* v = n->output(0);
      if (v == nullptr || n->outputs().size() != 1 || !is_op(*n, "Constant") || refers_to_parameters(*n))
        continue;
      std::optional<UnalignedTensor> t = constant_value(*n);
      if (!t) continue;
      if (is_body_) {
        results_[v] = std::move(*t);
        continue;
      }
      n->set_outputs({});
      v->set_tensor(std::move(*t));
    }
  }

  /// Nothing for sparse tensors and strings.
  std::optional<UnalignedTensor> constant_value(const Node& n) const {
    if (const Attribute* a = n.find_attribute("value")) {
      const auto* t = a->get_if<UnalignedTensor>();
      return t != nullptr ? std::optional(*t) : std::nullopt;
    }
    for (const char* form : {"value_float", "value_floats", "value_int", "value_ints"})
      if (n.find_attribute(form) != nullptr)
        if (const BoundOp op = bind_op(n, scope_)) return evaluate_node(n, op, {})[0];
    return std::nullopt;
  }

  const UnalignedTensor* known(const Value* v) const {
    if (v->tensor().defined()) return is_fixed(v, scope_.ir_version) ? &v->tensor() : nullptr;
    const auto it = v->producer() != nullptr ? results_.find(v) : results_.end();
    return it != results_.end() ? &it->second : nullptr;
  }

  bool all_known(const std::vector<Value*>& values) const {
    return std::all_of(values.begin(), values.end(),
                       [&](const Value* v) { return v == nullptr || known(v) != nullptr; });
  }

  bool may_fold(const Node& n) const {
    return !is_quantization(n) && !is_op(n, "Constant") && !refers_to_parameters(n) &&
           !(options_.should_exclude_node && options_.should_exclude_node(n));
  }

  void visit(Node& n) {
    if (n.outputs().empty() || !may_fold(n)) return;
    std::vector<Tensor> y;
    try {
      if (options_.fold_shapes)
        if (std::optional<Tensor> t = shapes_.fold(n)) y = {std::move(*t)};
      if (y.empty()) {
        if (!all_known(n.inputs()) || (has_subgraph(n) && !all_known(all_used_values(n)))) return;
        y = evaluator_.evaluate(n);
      }
    } catch (const Error& e) {
      if (!options_.error_ok) throw;
      report_.failed.push_back({n.label(), e.what()});
      return;
    }
    if (y.empty()) return;
    y.resize(n.outputs().size());
    for (size_t i = 0; i < y.size(); ++i)
      if (n.output(i) != nullptr) results_[n.output(i)] = y[i];
    computed_.push_back({&n, std::move(y)});
  }

  void write_back() {
    std::vector<ComputedNode> chosen = choose_results(graph_, std::move(computed_), options_, report_);
    for (ComputedNode& c : chosen) {
      const std::vector<Value*> outputs = c.node->outputs();
      c.node->set_outputs({});
      for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] != nullptr) outputs[i]->set_tensor(std::move(c.results[i]));
    }
    report_.folded_nodes += static_cast<int64_t>(chosen.size());
  }

  const Model& scope_;
  Graph& graph_;
  const FoldOptions& options_;
  FoldReport& report_;
  const bool is_body_;
  ShapeFolder shapes_;
  NodeEvaluator evaluator_;
  std::unordered_map<const Value*, UnalignedTensor> results_;
  std::vector<ComputedNode> computed_;
};

void fold_graph(const Model& model, const LocalFunctions& functions, const Model& scope, Graph& graph,
                const FoldOptions& options, FoldReport& report) {
  Folder(model, functions, scope, graph, options, report).run();
  if (options.recurse_subgraphs)
    for (Graph* g : subgraphs(graph)) fold_graph(model, functions, scope, *g, options, report);
  if (options.flatten_subgraphs) report.flattened_ifs += flatten_constant_ifs(graph, scope.ir_version);
}

}  // namespace

FoldReport fold_constants(Model& model, const FoldOptions& options) {
  check_depth(model);
  FoldReport report;
  const LocalFunctions functions(model);
  fold_graph(model, functions, model, *model.graph, options, report);
  if (!options.recurse_functions) return report;
  // Callers first: a body whose folded nodes wait for cleanup() is not a body to evaluate.
  for (auto f = model.functions.rbegin(); f != model.functions.rend(); ++f) {
    const Model scope = scope_of(model, f->opsets);
    fold_graph(model, functions, scope, *f->body, options, report);
    constants_to_nodes(*f->body);
  }
  return report;
}

}  // namespace assay
