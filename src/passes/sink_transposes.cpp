// Element-wise operators between two transpositions work on the order before the first, so that the two
// become one or none. Constants and paddings that meet the values on the way are transposed along.
#include <algorithm>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay::pass_sink_transposes {
namespace {

using Axes = std::vector<int64_t>;

bool is_binary(const Node& n, const OpFacts& facts) {
  return n.inputs().size() == 2 && (facts.elementwise == 2 || facts.elementwise == kEveryInput);
}

/// A constant of at most `rank` dimensions whose elements can be moved.
bool is_operand(const Value* v, size_t rank) {
  const UnalignedTensor* t = constant_of(v);
  return t != nullptr && static_cast<size_t>(t->rank()) <= rank && is_float(t->dtype());
}

/// Which input of an element-wise node is transposed with it; nothing when it is not such a node.
std::optional<size_t> followed_input(const Node& n, size_t rank, const Model& model) {
  const OpFacts& facts = facts_of(n, model);
  if (n.outputs().size() != 1) return std::nullopt;
  if (facts.elementwise == 1) {
    for (size_t i = 1; i < n.inputs().size(); ++i)
      if (n.input(i) != nullptr && constant_of(n.input(i)) == nullptr) return std::nullopt;
    return 0;
  }
  if (is_op(n, "Pad"))
    return n.inputs().size() == 2 || (n.inputs().size() == 3 && constant_of(n.input(2)) != nullptr)
               ? std::optional<size_t>(0)
               : std::nullopt;
  if (!is_binary(n, facts)) return std::nullopt;
  if (is_operand(n.input(1), rank)) return 0;
  return is_operand(n.input(0), rank) && !is_op(n, "PRelu") ? std::optional<size_t>(1) : std::nullopt;
}

/// The constant with as many dimensions as `perm`, axis perm[i] of the result being axis i of the constant.
Tensor untransposed(const Tensor& t, const Axes& perm) {
  const size_t rank = perm.size();
  if (t.numel() == 1) return t.reshaped(Shape{});
  Shape full;
  for (size_t i = static_cast<size_t>(t.rank()); i < rank; ++i) full.push_back(1);
  for (const int64_t d : t.shape()) full.push_back(d);
  Shape moved;
  for (size_t i = 0; i < rank; ++i) moved.push_back(1);
  for (size_t i = 0; i < rank; ++i) moved[static_cast<size_t>(perm[i])] = full[i];
  const Tensor wide = to_float64(t);
  Tensor out = Tensor::allocate(DType::kFloat64, moved);
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t i = rank - 1; i-- > 0;) strides[i] = strides[i + 1] * moved[i + 1];
  for (int64_t k = 0; k < wide.numel(); ++k) {
    int64_t place = 0;
    for (size_t i = 0; i < rank; ++i) place += index[i] * strides[static_cast<size_t>(perm[i])];
    out.mutable_data<double>()[place] = wide.data<double>()[k];
    for (size_t i = rank; i-- > 0 && ++index[i] == full[i];) index[i] = 0;
  }
  return convert(out, t.dtype());
}

/// Begins and ends of each axis, for the axes before the transposition.
std::optional<Axes> untransposed_pads(const Node& pad, const Axes& perm) {
  const std::optional<Axes> pads = ints_parameter(pad, "pads", 1);
  const size_t rank = perm.size();
  if (!pads || pads->size() != 2 * rank) return std::nullopt;
  Axes moved(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    moved[static_cast<size_t>(perm[i])] = (*pads)[i];
    moved[rank + static_cast<size_t>(perm[i])] = (*pads)[rank + i];
  }
  return moved;
}

/// The nodes between a transposition and the one before it, last first; the transposition before is the last.
std::vector<const Node*> chain_before(const Node& last, size_t rank, const PassContext& context) {
  std::vector<const Node*> chain;
  const Node* user = &last;
  const Value* v = last.input(0);
  while (v != nullptr && v->producer() != nullptr && context.sole_consumer(v) == user) {
    user = v->producer();
    chain.push_back(user);
    if (is_op(*user, "Transpose")) return chain;
    const std::optional<size_t> next = followed_input(*user, rank, context.model);
    if (!next) return {};
    v = user->input(*next);
  }
  return {};
}

/// One node of the chain again, on the order before the transposition.
std::optional<Patch::Ref> add_step(Patch& patch, const Node& n, Patch::Ref x, const Axes& perm, Value* output,
                                   const Model& model) {
  AttributeList attributes;
  for (const Attribute& a : n.attributes)
    if (a.name != "pads") attributes.emplace_back(a.name, a.data);
  const size_t followed = *followed_input(n, perm.size(), model);
  std::vector<Patch::Ref> inputs;
  for (Value* v : n.inputs()) inputs.emplace_back(v);
  inputs[followed] = x;
  if (is_op(n, "Pad")) {
    const std::optional<Axes> pads = untransposed_pads(n, perm);
    if (!pads) return std::nullopt;
    if (model.opset() < 11)
      attributes.emplace_back("pads", *pads);
    else
      inputs[1] = patch.constant(n.output(0)->name() + "/pads", Tensor::vector(*pads));
  } else if (is_binary(n, facts_of(n, model))) {
    const Value* other = n.input(1 - followed);
    inputs[1 - followed] =
        patch.constant(other->name() + "/transposed", untransposed(constant_of(other)->aligned(), perm));
  }
  return patch.add(n.op_type, std::move(inputs), std::move(attributes), output,
                   Type::tensor(dtype_of(n.output(0))), n.domain);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Transpose") || n.output(0) == nullptr || context.model.opset() < 7) return std::nullopt;
  const std::optional<Axes> outer = permutation_of(n);
  if (!outer || outer->empty()) return std::nullopt;
  const std::vector<const Node*> chain = chain_before(n, outer->size(), context);
  if (chain.size() < 2) return std::nullopt;
  const std::optional<Axes> inner = permutation_of(*chain.back());
  if (!inner || inner->size() != outer->size()) return std::nullopt;
  Axes both;
  for (const int64_t axis : *outer) both.push_back((*inner)[static_cast<size_t>(axis)]);
  const bool ends = std::is_sorted(both.begin(), both.end());
  Patch patch(n);
  Patch::Ref x = chain.back()->input(0);
  for (size_t i = chain.size() - 1; i-- > 0;) {
    Value* output = i == 0 && ends ? n.output(0) : nullptr;
    const std::optional<Patch::Ref> y = add_step(patch, *chain[i], x, *inner, output, context.model);
    if (!y) return std::nullopt;
    x = *y;
  }
  if (!ends) patch.add("Transpose", {x}, {{"perm", both}}, n.output(0));
  for (const Node* each : chain) patch.remove(*each);
  patch.remove(n);
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "sink_transposes",
    .summary = "transpositions with element-wise operators between them become one or none",
    .conditions =
        "Opset 7 or later. Between both Transposes only element-wise operators, with at most one operand "
        "that is not a constant, a constant of a floating type and of no more axes than the permutation (the "
        "slope of PRelu, not its input), and Pad without the input 'axes'. Nothing else uses what lies "
        "between.",
    .match = match,
};

}  // namespace assay::pass_sink_transposes
