// MatMul and Add of matrices become a Gemm, also of what two Reshapes around them make matrices; a
// transposition of a Gemm's matrix becomes its own.
#include <algorithm>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_fuse_gemm {
namespace {

bool has_gemm(DType t, int64_t opset) {
  return t == DType::kFloat32 || t == DType::kFloat64 || t == DType::kFloat16 ||
         (t == DType::kBFloat16 && opset >= 13);
}

/// Whether `c` broadcasts to the product's extents without enlarging them.
bool fits(const Value* c, const Value* product) {
  const Dims *from = dims_of(c), *to = dims_of(product);
  if (from == nullptr || to == nullptr || from->size() > to->size()) return false;
  for (size_t i = 0; i < from->size(); ++i) {
    const Dim &a = (*from)[from->size() - 1 - i], &b = (*to)[to->size() - 1 - i];
    if (!a.same_as(Dim(1)) && !a.same_as(b)) return false;
  }
  return true;
}

std::optional<Patch> match_sum(const Node& add, const PassContext& context) {
  if (add.inputs().size() != 2) return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    Value *product = add.input(side), *c = add.input(1 - side);
    const Node* mul = producer_of(product, "MatMul");
    if (mul == nullptr || context.sole_consumer(product) != &add || rank_of(mul->input(0)) != 2 ||
        rank_of(mul->input(1)) != 2 || !has_gemm(dtype_of(product), context.model.opset()) ||
        !fits(c, product))
      continue;
    Patch patch(add);
    patch.remove(*mul);
    patch.remove(add);
    patch.add("Gemm", {mul->input(0), mul->input(1), c}, {}, add.output(0));
    return patch;
  }
  return std::nullopt;
}

std::optional<Patch> match_transposed(const Node& gemm, const PassContext& context) {
  for (size_t side = 0; side < 2; ++side) {
    const Node* t = producer_of(gemm.input(side), "Transpose");
    if (t == nullptr || context.sole_consumer(gemm.input(side)) != &gemm || rank_of(t->input(0)) != 2)
      continue;
    const std::vector<int64_t> perm = ints_attribute(*t, "perm");
    if (!perm.empty() && perm != std::vector<int64_t>{1, 0}) continue;
    const char* name = side == 0 ? "transA" : "transB";
    AttributeList attributes;
    for (const Attribute& a : gemm.attributes)
      if (a.name != name) attributes.emplace_back(a.name, a.data);
    if (int_attribute(gemm, name, 0) == 0) attributes.emplace_back(name, int64_t{1});
    std::vector<Patch::Ref> inputs;
    for (size_t i = 0; i < gemm.inputs().size(); ++i)
      inputs.emplace_back(i == side ? t->input(0) : gemm.input(i));
    Patch patch(gemm);
    patch.remove(*t);
    patch.remove(gemm);
    patch.set_name(gemm.name);
    patch.add("Gemm", std::move(inputs), std::move(attributes), gemm.output(0));
    return patch;
  }
  return std::nullopt;
}

/// The shape that a Reshape gives when its input has the same elements in a matrix: extents that it keeps
/// become numbers, one of them -1 if need be. Nothing where that does not say it.
std::optional<std::vector<int64_t>> shape_from_matrix(const Node& reshape) {
  std::optional<std::vector<int64_t>> shape = integers_of(reshape.input(1));
  const Dims* from = dims_of(reshape.input(0));
  if (!shape || from == nullptr || int_attribute(reshape, "allowzero", 0) != 0) return std::nullopt;
  bool is_open = std::find(shape->begin(), shape->end(), -1) != shape->end();
  for (size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[i] != 0) continue;
    if (i >= from->size()) return std::nullopt;
    const Dim& d = (*from)[i];
    if (!d.is_known() && is_open) return std::nullopt;
    is_open = is_open || !d.is_known();
    (*shape)[i] = d.is_known() ? d.value() : -1;
  }
  return shape;
}

/// Reshape, MatMul, Add of a vector, Reshape: the first one may as well make a matrix.
std::optional<Patch> match_between_views(const Node& back, const PassContext& context) {
  const Node* add =
      context.sole_consumer(back.input(0)) == &back ? producer_of(back.input(0), "Add") : nullptr;
  if (add == nullptr || add->inputs().size() != 2) return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    Value *product = add->input(side), *c = add->input(1 - side);
    const Node* mul = context.sole_consumer(product) == add ? producer_of(product, "MatMul") : nullptr;
    if (mul == nullptr || rank_of(c) != 1 || !fits(c, product) ||
        !has_gemm(dtype_of(product), context.model.opset()))
      continue;
    const Node* front =
        context.sole_consumer(mul->input(0)) == mul ? producer_of(mul->input(0), "Reshape") : nullptr;
    const Dims* weight = dims_of(mul->input(1));
    if (front == nullptr || weight == nullptr || weight->size() != 2 || !(*weight)[0].is_known() ||
        (*weight)[0].value() == 0 || rank_of(mul->input(0)) <= 2)
      continue;
    const std::optional<std::vector<int64_t>> shape = shape_from_matrix(back);
    if (!shape) continue;
    Patch patch(back);
    for (const Node* n : {mul, front, add, &back}) patch.remove(*n);
    const Tensor rows = Tensor::vector(std::vector{int64_t{-1}, (*weight)[0].value()});
    const Patch::Ref matrix =
        patch.add("Reshape", {front->input(0), patch.constant(mul->input(0)->name() + "/matrix", rows)});
    const Patch::Ref sum = patch.add("Gemm", {matrix, mul->input(1), c});
    patch.add("Reshape", {sum, patch.constant(back.output(0)->name() + "/shape", Tensor::vector(*shape))}, {},
              back.output(0));
    return patch;
  }
  return std::nullopt;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (context.model.opset() < 7 || n.output(0) == nullptr) return std::nullopt;
  if (is_op(n, "Add")) return match_sum(n, context);
  if (is_op(n, "Reshape")) return match_between_views(n, context);
  return is_op(n, "Gemm") ? match_transposed(n, context) : std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_gemm",
    .summary =
        "MatMul and Add of matrices, or between Reshapes, become a Gemm, which takes in transpositions of "
        "its matrices",
    .conditions =
        "Opset 7 or later; float16, float32, float64, and bfloat16 from opset 13 on. Matrices of rank 2 and "
        "a term that broadcasts to the product without enlarging it. Between two Reshapes: a weight with a "
        "known first extent that is not 0, a vector, and a target whose extents are constants or are kept, "
        "one open at most; allowzero is 0.",
    .match = match,
};

}  // namespace assay::pass_fuse_gemm
