// An initial state of LSTM, GRU or RNN that is zero everywhere is left out, which means the same; with it
// goes what computes its shape.
#include <algorithm>

#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay::pass_drop_zero_states {
namespace {

bool is_all_zero(const UnalignedTensor& t) {
  if (t.numel() == 0 || !is_float(t.dtype())) return false;
  const Tensor wide = to_float64(t);
  return std::all_of(wide.span<double>().begin(), wide.span<double>().end(), [](double x) { return x == 0; });
}

/// More than any exporter writes between a constant and a state.
constexpr int kMaxSteps = 8;

/// A constant, or one that is made larger or cut without another number coming in.
bool is_zero(const Value* v, const Model& model) {
  for (int step = 0; v != nullptr && step < kMaxSteps; ++step) {
    if (const UnalignedTensor* t = constant_of(v)) return is_all_zero(*t);
    const Node* n = v->producer();
    if (n == nullptr) return false;
    if (is_op(*n, "ConstantOfShape")) {
      const Attribute* a = n->find_attribute("value");
      const UnalignedTensor* t = a != nullptr ? a->get_if<UnalignedTensor>() : nullptr;
      return a == nullptr || (t != nullptr && is_all_zero(*t));
    }
    if (!facts_of(*n, model).gives_first()) return false;
    v = n->input(0);
  }
  return false;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!facts_of(n, context.model).recurrent) return std::nullopt;
  std::vector<Patch::Ref> inputs;
  bool drops = false;
  for (size_t i = 0; i < n.inputs().size(); ++i) {
    const bool is_state = i == 5 || (i == 6 && is_op(n, "LSTM"));
    const bool goes = is_state && is_zero(n.input(i), context.model);
    drops = drops || goes;
    inputs.emplace_back(goes ? nullptr : n.input(i));
  }
  if (!drops) return std::nullopt;
  while (inputs.back().value == nullptr) inputs.pop_back();
  AttributeList attributes;
  for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
  Patch patch(n);
  patch.remove(n);
  patch.add_multi(n.op_type, std::move(inputs), std::move(attributes), n.outputs());
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "drop_zero_states",
    .summary = "initial states of recurrent layers that are zero are left out",
    .conditions =
        "Every element of the initial state is 0 of a floating type: a constant, a ConstantOfShape, or "
        "either of them expanded, tiled, sliced, transposed or reshaped.",
    .match = match,
};

}  // namespace assay::pass_drop_zero_states
