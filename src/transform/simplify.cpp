#include "transform/simplify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/edit.h"
#include "graph/clone.h"
#include "graph/distinct_names.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

/// Maximum number of rounds, each of which makes the model smaller or is the last: more than any needs.
constexpr int kMaxRounds = 16;
/// Prefix of the symbols for unnamed open extents while the passes run.
constexpr char kUnnamed = '?';

/// The graph and those inside it.
std::vector<Graph*> all_graphs(Graph& g) {
  std::vector<Graph*> list = subgraphs(g, /*recursive=*/true);
  list.insert(list.begin(), &g);
  return list;
}

bool is_unnamed(const Dim& d) { return d.is_symbol() && d.symbol().find(kUnnamed) != std::string::npos; }

/// The declared types, set aside while the passes work with inferred ones only.
class DeclaredTypes {
 public:
  explicit DeclaredTypes(Graph& g) : graph_(g) {
    for (Graph* each : all_graphs(g))
      for (const auto& v : each->values()) types_[each][v->name()] = v->type;
    int64_t count = 0;
    for (Value* v : g.inputs) {
      if (!v->type.has_shape()) continue;
      for (Dim& d : *v->type.dims)
        if (!d.is_known() && !d.is_symbol()) d = Dim::symbol(kUnnamed + std::to_string(count++));
    }
  }

  /// Restores the declared types of inputs and outputs; others keep the inferred type, or the declared one if
  /// that is more specific.
  void restore() {
    for (Graph* g : all_graphs(graph_)) {
      const auto saved = types_.find(g);
      for (const auto& v : g->values()) {
        const auto it = saved != types_.end() ? saved->second.find(v->name()) : Types::iterator();
        const Type* declared = saved != types_.end() && it != saved->second.end() ? &it->second : nullptr;
        merge(v->type, declared);
      }
      for (const std::vector<Value*>* list : {&g->inputs, &g->outputs})
        for (Value* v : *list)
          if (saved != types_.end() && &v->graph() == g)
            if (const auto it = saved->second.find(v->name()); it != saved->second.end())
              v->type = it->second;
    }
  }

 private:
  using Types = std::unordered_map<std::string, Type>;

  static void merge(Type& type, const Type* declared) {
    if (type.kind == Type::Kind::kUnknown && declared != nullptr) type = *declared;
    if (!type.has_shape()) {
      if (type.is_tensor() && declared != nullptr && declared->has_shape()) type.dims = declared->dims;
      return;
    }
    const bool matches =
        declared != nullptr && declared->has_shape() && declared->dims->size() == type.dims->size();
    for (size_t i = 0; i < type.dims->size(); ++i) {
      Dim& d = (*type.dims)[i];
      if (is_unnamed(d)) d = Dim();
      if (matches && !d.is_known() && !d.is_symbol()) d = (*declared->dims)[i];
    }
  }

  Graph& graph_;
  std::unordered_map<const Graph*, Types> types_;
};

/// From IR version 4 on, a caller may replace an initializer that is listed among the inputs: an input while
/// the passes run.
class Replaceable {
 public:
  Replaceable(Graph& g, int64_t ir_version) : graph_(g) {
    if (ir_version < 4) return;
    for (const auto& v : g.values()) {
      if (!v->is_overridable || !v->tensor().defined()) continue;
      kept_.push_back({v->name(), v->tensor(), v->shared_tensor_source()});
      v->clear_tensor();
    }
  }

  void restore() {
    for (Kept& k : kept_)
      if (Value* v = graph_.find_value(k.name)) {
        v->set_tensor(std::move(k.tensor));
        v->set_tensor_source(std::move(k.source));
      }
  }

 private:
  struct Kept {
    std::string name;
    UnalignedTensor tensor;
    std::shared_ptr<const TensorSource> source;
  };
  Graph& graph_;
  std::vector<Kept> kept_;
};

void add_report(SimplifyReport& report, const PassReport& done) {
  if (done.edits == 0) return;
  const auto known = std::find_if(report.passes.begin(), report.passes.end(),
                                  [&](const PassReport& p) { return p.pass == done.pass; });
  if (known == report.passes.end()) {
    report.passes.push_back(done);
    return;
  }
  known->edits += done.edits;
  known->seconds += done.seconds;
}

/// Passes name all nodes made from one after it: later ones get numbers.
void number_equal_names(Graph& g) {
  std::unordered_set<std::string> taken;
  for (const auto& n : g.nodes()) taken.insert(n->name);
  std::unordered_map<std::string, int64_t> uses;
  for (const auto& n : g.nodes()) {
    if (n->name.empty()) continue;
    int64_t& count = uses[n->name];
    if (count++ == 0) continue;
    std::string numbered;
    do numbered = fmt::format("{}_{}", n->name, count++);
    while (!taken.insert(numbered).second);
    n->name = std::move(numbered);
  }
}

std::unordered_set<std::string> value_names(Graph& g) {
  std::unordered_set<std::string> names;
  for (const Graph* each : all_graphs(g))
    for (const auto& v : each->values()) names.insert(v->name());
  return names;
}

/// Passes name a new constant after its sources,
/// which takes more bytes than many constants have.
void shorten_new_names(Graph& g, const std::unordered_set<std::string>& old_names) {
  std::unordered_set<std::string> taken = value_names(g);
  int64_t count = 0;
  for (Graph* each : all_graphs(g))
    for (const auto& v : each->values()) {
      if (!v->is_constant() || old_names.contains(v->name())) continue;
      std::string name;
      do name = fmt::format("c{}", count++);
      while (!taken.insert(name).second);
      v->rename(std::move(name));
    }
}

/// One model, without its functions.
void simplify_graph(Model& model, const SimplifyOptions& options, SimplifyReport& report) {
  for (Graph* g : all_graphs(*model.graph)) sort_topologically(*g);
  DeclaredTypes declared(*model.graph);
  Replaceable replaceable(*model.graph, model.ir_version);
  const std::unordered_set<std::string> names = value_names(*model.graph);
  const auto infer = [&] {
    if (options.infer)
      infer_shapes(model, {.on_problem = [](const Node&, const std::string&) {}, .keep_declared = false});
  };
  FoldOptions fold = options.fold;
  fold.recurse_functions = false;
  const PassOptions pass_options{.set = options.set, .recurse_subgraphs = true};
  const PassSet& set = passes_of(pass_options);
  const std::vector<const PassDef*> passes = set.stage(PassStage::kSimplify, model.opset());
  const std::vector<const PassDef*> last = set.stage(PassStage::kSimplifyEnd, model.opset());
  const auto run = [&](std::span<const PassDef* const> list) {
    int64_t edits = 0;
    for (const PassReport& r : run_passes(model, list, pass_options, options.allows_edit)) {
      edits += r.edits;
      add_report(report, r);
    }
    return edits;
  };
  for (int round = 0; round < kMaxRounds; ++round) {
    infer();
    const int64_t edits = run(passes);
    const FoldReport folded = fold_constants(model, fold);
    report.folded_nodes += folded.folded_nodes;
    report.flattened_ifs += folded.flattened_ifs;
    report.elided_casts += folded.elided_casts;
    cleanup(*model.graph);
    for (Graph* g : all_graphs(*model.graph)) sort_topologically(*g);
    if (edits + folded.folded_nodes + folded.flattened_ifs + folded.elided_casts == 0 && run(last) == 0)
      break;
  }
  for (Graph* g : all_graphs(*model.graph)) number_equal_names(*g);
  shorten_new_names(*model.graph, names);
  replaceable.restore();
  infer();
  declared.restore();
}

/// Attributes from the call are unknown here.
bool refers_to_parameters(const Graph& g) {
  const auto refers = [](const Graph& each) {
    return std::any_of(each.nodes().begin(), each.nodes().end(), [](const auto& n) {
      return std::any_of(n->attributes.begin(), n->attributes.end(),
                         [](const Attribute& a) { return !a.ref_attr_name.empty(); });
    });
  };
  const std::vector<Graph*> inner = subgraphs(g, /*recursive=*/true);
  return refers(g) || std::any_of(inner.begin(), inner.end(), [&](const Graph* s) { return refers(*s); });
}

}  // namespace

SimplifyReport simplify(Model& model, const SimplifyOptions& options) {
  SimplifyReport report;
  DistinctNames names(model);
  simplify_graph(model, options, report);
  for (Function& f : model.functions) {
    if (refers_to_parameters(*f.body)) continue;
    // A body is a graph without initializers whose inputs are of any type.
    Model scope = scope_of(model, f.opsets);
    scope.graph.swap(f.body);
    for (const auto& v : scope.graph->values())
      if (!v->is_constant()) v->type = {};
    pass_constants_to_initializers::def.run(scope);
    simplify_graph(scope, options, report);
    constants_to_nodes(*scope.graph);
    scope.graph.swap(f.body);
  }
  names.settle(model);
  return report;
}

}  // namespace assay
