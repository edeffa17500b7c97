#include "transform/kept_values.h"

#include <algorithm>

#include "analysis/averages.h"
#include "analysis/match.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

/// A number that changes no shape, or nothing.
bool is_parameter(const Value* v) {
  const UnalignedTensor* number = v == nullptr ? nullptr : constant_of(v);
  return v == nullptr || (number != nullptr && number->numel() == 1 && number->rank() <= 1);
}

bool is_selection(const Node& n) { return is_op(n, "Resize") && selects_elements(n); }

bool is_pool(const Node& n) { return is_op(n, "MaxPool") && n.outputs().size() == 1; }

/// The MaxPool that alone reads a value, or null.
const Node* only_pool_of(const Value* v) {
  return v->consumers().size() == 1 && is_pool(*v->consumers()[0]) ? v->consumers()[0] : nullptr;
}

/// A gate's extents in the image [N, C, spatial...]: 1 along the spatial axes, of which the image has others.
bool has_number_per_channel(const Value* gate, const Value* image) {
  if (!gate->type.has_shape() || !image->type.has_shape()) return false;
  const Dims &narrow = *gate->type.dims, &wide = *image->type.dims;
  const auto is_one = [](const Dim& d) { return d.is_known() && d.value() == 1; };
  return wide.size() >= 3 && narrow.size() == wide.size() &&
         std::all_of(narrow.begin() + 2, narrow.end(), is_one) &&
         !std::all_of(wide.begin() + 2, wide.end(), is_one);
}

bool is_float(const Value* v) { return v != nullptr && dtype_of(v) == DType::kFloat32; }

}  // namespace

FunctionSources::FunctionSources(const Model& model, const std::vector<const Node*>& nodes) {
  for (const Node* n : nodes) find(*n, model);
}

/// Of an element-wise operator all of whose operands are functions of one value.
void FunctionSources::find(const Node& n, const Model& model) {
  if (facts_of(n, model).elementwise == 0 || n.outputs().size() != 1 || !is_float(n.output(0))) return;
  const Value* found = nullptr;
  for (const Value* v : n.inputs()) {
    if (is_parameter(v)) continue;
    if (constant_of(v) != nullptr || !is_float(v) || (found != nullptr && of(v) != found)) return;
    found = of(v);
  }
  if (found != nullptr) sources_[n.output(0)] = found;
}

bool KeptValues::is_move(const Node& n, const Model& model) {
  return is_op(n, "Concat") || is_pool(n) || facts_of(n, model).gives_first() || is_selection(n);
}

const Value* KeptValues::scaled(const Value* v, const std::map<std::string, float>& scales, Through through) {
  const bool goes_through_pools = through == Through::kSplitAndPool;
  // The largest of rounded numbers is the largest one, rounded.
  while (goes_through_pools && only_pool_of(v) != nullptr &&
         scales.contains(only_pool_of(v)->output(0)->name()))
    v = only_pool_of(v)->output(0);
  const Value* found = v;
  const auto is_cut_out = [&](const Node* n) {
    return n != nullptr && (is_op(*n, "Split") || is_selection(*n) ||
                            (goes_through_pools && is_pool(*n) && only_pool_of(n->input(0)) == nullptr));
  };
  while (is_cut_out(v->producer())) {
    v = v->producer()->input(0);
    if (scales.contains(v->name())) found = v;
  }
  return found;
}

bool KeptValues::is_gate(const Node& n) {
  if (!is_op(n, "Mul") || n.inputs().size() != 2) return false;
  const Value *a = n.input(0), *b = n.input(1);
  if (constant_of(a) != nullptr || constant_of(b) != nullptr || !is_float(a) || !is_float(b)) return false;
  return has_number_per_channel(a, b) || has_number_per_channel(b, a);
}

KeptValues::KeptValues(const Model& model, const std::vector<const Node*>& nodes, const Questions& questions)
    : sources_(model, nodes) {
  const std::unordered_set<const Value*> outputs(model.graph->outputs.begin(), model.graph->outputs.end());
  const auto is_read = [&](const Value* v, const Node& c) {
    if (questions.reads_8_bits(c, v)) return true;
    return !questions.stays_float(c) && may_carry(c, model) &&
           std::all_of(c.outputs().begin(), c.outputs().end(),
                       [&](const Value* y) { return kept_.contains(y); });
  };
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
    for (const Value* v : (*it)->outputs()) {
      if (!is_float(v) || v->consumers().empty() || outputs.contains(v) || questions.stays_float(**it) ||
          !questions.has_scale(v))
        continue;
      if (std::all_of(v->consumers().begin(), v->consumers().end(),
                      [&](const Node* c) { return &c->graph() == model.graph.get() && is_read(v, *c); }))
        kept_.insert(v);
    }
}

bool KeptValues::may_carry(const Node& n, const Model& model) const {
  if (is_move(n, model)) return true;
  const bool is_sum = is_op(n, "Add") && n.inputs().size() == 2 && constant_of(n.input(0)) == nullptr &&
                      constant_of(n.input(1)) == nullptr;
  return is_sum || is_gate(n) || averages_pixels(n, model) || interpolates_pixels(n) ||
         (n.outputs().size() == 1 && source(n.output(0)) != n.output(0));
}

}  // namespace assay
