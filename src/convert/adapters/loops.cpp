// Loops, branches and recurrences: axes of batch and sequence, shapes of results.
#include <algorithm>

#include "base/wording.h"
#include "convert/rewrite.h"
#include "convert/steps.h"
#include "graph/read.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

/// Swaps batch and sequence (or direction).
void swap_first_two(Rewrite& r, size_t i) {
  if (r.input(i) != nullptr)
    r.node().set_input(i, r.add("Transpose", {r.input(i)}, {{"perm", Ints{1, 0, 2}}}));
}

void sequence_first(Rewrite& r) {
  const bool by_batch = r.get_int("layout", 0) != 0;
  r.node().remove_attribute("layout");
  if (!by_batch) return;
  swap_first_two(r, 0);
  swap_first_two(r, 5);
  if (r.node().op_type == "LSTM") swap_first_two(r, 6);
  for (size_t i = 0; i < r.node().outputs().size(); ++i) {
    Value* out = r.output(i);
    if (out == nullptr) continue;
    const Ints perm = i == 0 ? Ints{2, 0, 1, 3} : Ints{1, 0, 2};
    r.give(out, "Transpose", {r.take_output(i)}, {{"perm", perm}});
  }
}

size_t scan_inputs(Rewrite& r) { return static_cast<size_t>(r.get_int("num_scan_inputs", 0)); }

/// A value in another graph, of the same type without its first extent.
Value* entry_of(Graph& g, const Value* v) {
  if (v == nullptr) return g.add_value(g.unique_name("unused"));
  Type type = v->type;
  if (type.has_shape() && !type.dims->empty()) type.dims->erase(type.dims->begin());
  return g.add_value(g.unique_name(v->name() + "/entry"), std::move(type));
}

/// A batch of sequences: a scan over the batch, whose body scans one sequence.
void nest_batch(Rewrite& r) {
  if (r.input(0) != nullptr) no_equivalent("the input 'sequence_lens'");
  const std::vector<Value*> in(r.node().inputs().begin() + 1, r.node().inputs().end());
  const Attribute* body = r.node().find_attribute("body");
  if (body == nullptr || body->get_if<std::shared_ptr<Graph>>() == nullptr)
    no_equivalent("a node without body");
  auto inner = std::make_shared<Graph>();
  inner->name = "batch";
  inner->set_parent(&r.node().graph());
  std::vector<Value*> entries, results;
  for (const Value* v : in) entries.push_back(entry_of(*inner, v));
  inner->inputs = entries;
  const auto own = *body->get_if<std::shared_ptr<Graph>>();
  AttributeList attributes = {{"body", own}, {"num_scan_inputs", r.get_int("num_scan_inputs", 0)}};
  if (r.has("directions")) attributes.emplace_back("scan_input_directions", r.get_ints("directions"));
  for (const Value* v : r.node().outputs()) results.push_back(entry_of(*inner, v));
  own->set_parent(inner.get());
  inner->add_node("Scan", entries, results, attributes);
  inner->outputs = results;
  r.node().attributes.clear();
  r.node().set_attribute("body", inner);
  r.node().set_attribute("num_scan_inputs", static_cast<int64_t>(in.size()));
  r.node().set_inputs(in);
}

bool is_all_zero(const Ints& list) {
  return std::all_of(list.begin(), list.end(), [](int64_t x) { return x == 0; });
}

/// A batch of one.
void wrap_batch(Rewrite& r) {
  for (const char* name : {"scan_input_axes", "scan_output_axes", "scan_output_directions"}) {
    if (!is_all_zero(r.get_ints(name))) no_equivalent("the attribute '{}'", name);
    r.node().remove_attribute(name);
  }
  r.rename_attribute("scan_input_directions", "directions");
  const Ints batch = {0};
  std::vector<Value*> inputs = {nullptr};
  for (Value* v : r.node().inputs()) inputs.push_back(r.add("Unsqueeze", {v}, {{"axes", batch}}));
  r.node().set_inputs(inputs);
  for (size_t i = 0; i < r.node().outputs().size(); ++i) {
    Value* out = r.output(i);
    if (out != nullptr) r.give(out, "Squeeze", {r.take_output(i)}, {{"axes", batch}});
  }
}

void scan_axes_from_front(Rewrite& r) {
  const size_t states = r.node().inputs().size() - std::min(scan_inputs(r), r.node().inputs().size());
  for (const char* name : {"scan_input_axes", "scan_output_axes"}) {
    Ints axes = r.get_ints(name);
    if (std::all_of(axes.begin(), axes.end(), [](int64_t a) { return a >= 0; })) continue;
    const bool is_input = std::string_view(name) == "scan_input_axes";
    for (size_t i = 0; i < axes.size(); ++i) {
      const int rank = rank_of(is_input ? r.input(states + i) : r.output(states + i));
      if (axes[i] < 0 && rank < 0)
        no_equivalent("the attribute '{}' with a negative axis of an unknown rank", name);
      if (axes[i] < 0) axes[i] += rank;
    }
    r.node().set_attribute(name, axes);
  }
}

bool differ_in_shape(const Type& a, const Type& b) {
  if (!a.has_shape() || !b.has_shape()) return false;
  if (a.dims->size() != b.dims->size()) return true;
  for (size_t i = 0; i < a.dims->size(); ++i) {
    const Dim &x = (*a.dims)[i], &y = (*b.dims)[i];
    if (x.is_known() && y.is_known() && x.value() != y.value()) return true;
  }
  return false;
}

/// Old versions require outputs of the same shape in both branches.
void one_shape(Rewrite& r) {
  const Graph* then_branch = graph_attribute(r.node(), "then_branch");
  const Graph* else_branch = graph_attribute(r.node(), "else_branch");
  if (then_branch == nullptr || else_branch == nullptr) no_equivalent("a node without one of its branches");
  const size_t count = std::min(then_branch->outputs.size(), else_branch->outputs.size());
  for (size_t i = 0; i < count; ++i) {
    const Value *a = then_branch->outputs[i], *b = else_branch->outputs[i];
    if (differ_in_shape(a->type, b->type))
      no_equivalent(
          "the difference in shape between its branches ('{}' is {}, '{}' is {}; where the condition is "
          "constant, {})",
          a->name(), dims_str(*a->type.dims), b->name(), dims_str(*b->type.dims),
          say(Say::kFoldConstantsLeavesBranch));
  }
}

}  // namespace

constinit const Adapter adapter_branch_shapes = {
    .name = "branch_shapes", .summary = "branches may differ in shape", .down = one_shape};
constinit const Adapter adapter_recurrent_layout = {
    .name = "recurrent_layout", .summary = "the batch may come first", .down = sequence_first};
constinit const Adapter adapter_scan_batch = {.name = "scan_batch",
                                              .summary = "no batch, axes and directions of their own",
                                              .up = nest_batch,
                                              .down = wrap_batch};
constinit const Adapter adapter_scan_axes = {
    .name = "scan_axes", .summary = "axes may count from the end", .down = scan_axes_from_front};

}  // namespace assay
