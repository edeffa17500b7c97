#include "analysis/loop_form.h"

#include <algorithm>

#include "analysis/match.h"
#include "assay/edit.h"
#include "graph/uses.h"

namespace assay {
namespace {

constexpr int64_t kScanWithoutBatch = 9;

/// The graph, and all in it.
std::vector<Graph*> with_inner(Graph& g) {
  std::vector<Graph*> graphs = subgraphs(g, /*recursive=*/true);
  graphs.insert(graphs.begin(), &g);
  return graphs;
}

void collect(Graph& g, int64_t opset, std::vector<LoopForm>& loops) {
  for (const auto& n : g.nodes()) {
    if (const auto form = loop_form(*n, opset)) loops.push_back(*form);
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) collect(**sub, opset, loops);
  }
}

std::optional<int64_t> extent_of_scans(const LoopForm& loop) {
  const std::vector<int64_t> axes = ints_attribute(*loop.node, "scan_input_axes");
  for (size_t i = loop.states; i < loop.node->inputs().size(); ++i) {
    const int rank = rank_of(loop.node->input(i));
    if (rank <= 0) continue;
    int64_t axis = i - loop.states < axes.size() ? axes[i - loop.states] : 0;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const Dim& extent = (*loop.node->input(i)->type.dims)[static_cast<size_t>(axis)];
    if (extent.is_known()) return extent.value();
  }
  return std::nullopt;
}

std::vector<Value*> without(std::vector<Value*> list, size_t at) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return list;
}

}  // namespace

std::optional<LoopForm> loop_form(Node& n, int64_t opset) {
  const bool is_loop = is_op(n, "Loop");
  if (!is_loop && (!is_op(n, "Scan") || opset < kScanWithoutBatch)) return std::nullopt;
  const Attribute* a = n.find_attribute("body");
  const auto* body = a != nullptr ? a->get_if<std::shared_ptr<Graph>>() : nullptr;
  if (body == nullptr || *body == nullptr) return std::nullopt;
  LoopForm form{.node = &n,
                .body = body->get(),
                .leading_inputs = is_loop ? size_t{2} : 0,
                .leading_outputs = is_loop ? size_t{1} : 0};
  const size_t inputs = n.inputs().size();
  size_t scans = 0;
  if (!is_loop) {
    const int64_t given = int_attribute(n, "num_scan_inputs", 0);
    if (given <= 0 || given > static_cast<int64_t>(inputs)) return std::nullopt;
    scans = static_cast<size_t>(given);
  }
  if (inputs < form.leading_inputs + scans) return std::nullopt;
  form.states = inputs - form.leading_inputs - scans;
  if (form.body->inputs.size() != inputs || form.states > n.outputs().size() ||
      form.body->outputs.size() != form.leading_outputs + n.outputs().size())
    return std::nullopt;
  return form;
}

std::vector<LoopForm> loops_of(const Model& model) {
  std::vector<LoopForm> loops;
  collect(*model.graph, model.opset(), loops);
  return loops;
}

bool surely_runs(const LoopForm& loop, int64_t ir_version) {
  if (!loop.is_loop()) return extent_of_scans(loop).value_or(0) > 0;
  const Value *trips = loop.node->input(0), *condition = loop.node->input(1);
  if (trips != nullptr) {
    const std::optional<double> count = is_fixed(trips, ir_version) ? scalar_of(trips) : std::nullopt;
    if (!count || *count < 1) return false;
  }
  if (condition == nullptr) return trips != nullptr;
  if (!is_fixed(condition, ir_version)) return false;
  const Tensor t = condition->tensor().aligned();
  return t.dtype() == DType::kBool && t.numel() == 1 && t.data<bool>()[0];
}

void remove_state(LoopForm& loop, size_t i) {
  Node& n = *loop.node;
  loop.body->inputs = without(loop.body->inputs, loop.leading_inputs + i);
  loop.body->outputs = without(loop.body->outputs, loop.leading_outputs + i);
  n.set_inputs(without(n.inputs(), loop.leading_inputs + i));
  n.set_outputs(without(n.outputs(), i));
  --loop.states;
}

const Value* through_identities(const Value* v) {
  while (v->producer() != nullptr && is_op(*v->producer(), "Identity") &&
         v->producer()->input(0) != nullptr && &v->producer()->input(0)->graph() == &v->graph())
    v = v->producer()->input(0);
  return v;
}

bool is_given_out(const Graph& g, const Value* v) {
  for (const Graph* each : with_inner(const_cast<Graph&>(g)))
    if (std::find(each->outputs.begin(), each->outputs.end(), v) != each->outputs.end()) return true;
  return false;
}

void capture_instead(Value& from, Value* to) {
  for (Graph* g : with_inner(from.graph())) {
    if (Value* hiding = g->find_value(to->name()); hiding != nullptr && hiding != to)
      hiding->rename(g->unique_name(to->name() + "/inside"));
    for (Value*& given : g->outputs) {
      if (given != &from) continue;
      Value* same = g->add_value(g->unique_name(from.name() + "/given"), from.type);
      g->add_node("Identity", {to}, {same}, {}, same->name());
      given = same;
    }
  }
  replace_inputs(from, to);
}

}  // namespace assay
