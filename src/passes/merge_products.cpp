// Products of one value with several weights become one product with the weights side by side, and their
// biases one vector; a Split takes the results apart. So do the queries, keys and values of attention.
#include <algorithm>
#include <cstring>

#include "analysis/channel_constants.h"
#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_products {
namespace {

/// Merged weights are in memory until the model is saved; larger ones stay where they are mapped.
constexpr size_t kMaxBytes = size_t{64} << 20;

/// One product: a MatMul, with the Add of a vector behind it if there is one, or a Gemm.
struct Branch {
  const Node* product = nullptr;
  const Node* sum = nullptr;  ///< null: none, or within the Gemm
  const UnalignedTensor* weight = nullptr;
  const UnalignedTensor* bias = nullptr;
  bool transposed = false;  ///< the weight is [terms, results] unless it is

  Value* result() const { return (sum != nullptr ? sum : product)->output(0); }
  int64_t terms() const { return weight->dim(transposed ? 1 : 0); }
  int64_t width() const { return weight->dim(transposed ? 0 : 1); }
  bool goes_with(const Branch& o) const {
    return product->op_type == o.product->op_type && weight->dtype() == o.weight->dtype() &&
           transposed == o.transposed && terms() == o.terms();
  }
};

/// Whether the constant is a vector that fits the last dimension of `to` and does not enlarge it.
bool is_bias(const UnalignedTensor* c, const Branch& b, const Value* to) {
  return c != nullptr && c->dtype() == b.weight->dtype() && c->numel() == b.width() && c->rank() >= 1 &&
         c->dim(static_cast<size_t>(c->rank()) - 1) == b.width() &&
         (c->rank() == 1 || c->rank() <= rank_of(to));
}

std::optional<Branch> gemm_branch(Branch b) {
  const Node& n = *b.product;
  if (float_attribute(n, "alpha", 1) != 1 || float_attribute(n, "beta", 1) != 1 ||
      int_attribute(n, "transA", 0) != 0)
    return std::nullopt;
  b.transposed = int_attribute(n, "transB", 0) != 0;
  if (n.input(2) == nullptr) return b;
  b.bias = constant_of(n.input(2));
  return is_bias(b.bias, b, n.output(0)) ? std::optional(b) : std::nullopt;
}

/// The product that the node makes of `x` with a weight that nobody else uses.
std::optional<Branch> branch_of(const Node& n, const Value* x, const PassContext& context) {
  const bool is_gemm = is_op(n, "Gemm");
  if ((!is_gemm && !is_op(n, "MatMul")) || n.input(0) != x || n.input(1) == x || n.output(0) == nullptr)
    return std::nullopt;
  Branch b{.product = &n, .weight = constant_of(n.input(1))};
  if (b.weight == nullptr || !is_float(b.weight->dtype()) || b.weight->rank() != 2 ||
      b.weight->numel() == 0 || context.sole_consumer(n.input(1)) != &n)
    return std::nullopt;
  if (is_gemm) return gemm_branch(b);
  const Node* sum = context.sole_consumer(n.output(0));
  if (sum == nullptr || !is_op(*sum, "Add") || sum->output(0) == nullptr) return b;
  const Value* other = other_input(*sum, n.output(0));
  if (const UnalignedTensor* c = constant_of(other); is_bias(c, b, n.output(0))) b.sum = sum, b.bias = c;
  return b;
}

/// Matrices side by side, or below each other.
Tensor joined(const std::vector<Branch>& branches, int64_t width) {
  const Branch& first = branches.front();
  const int64_t terms = first.terms();
  Tensor all =
      Tensor::allocate(first.weight->dtype(), first.transposed ? Shape{width, terms} : Shape{terms, width});
  auto* to = static_cast<std::byte*>(all.mutable_data());
  const size_t rows = first.transposed ? 1 : static_cast<size_t>(terms);
  for (size_t row = 0; row < rows; ++row)
    for (const Branch& b : branches) {
      const size_t length = b.weight->nbytes() / rows;
      std::memcpy(to, static_cast<const std::byte*>(b.weight->data()) + row * length, length);
      to += length;
    }
  return all;
}

/// The vectors behind each other, -0 for those that are not there: it leaves what it is added to.
Tensor joined_biases(const std::vector<Branch>& branches, int64_t width) {
  Tensor all =
      float_vector(std::vector<double>(static_cast<size_t>(width), -0.0), branches.front().weight->dtype());
  const size_t size = all.nbytes() / static_cast<size_t>(width);
  auto* to = static_cast<std::byte*>(all.mutable_data());
  for (const Branch& b : branches) {
    if (b.bias != nullptr) std::memcpy(to, b.bias->data(), b.bias->nbytes());
    to += size * static_cast<size_t>(b.width());
  }
  return all;
}

void add_split(Patch& patch, Patch::Ref all, const std::vector<Branch>& branches, int64_t axis,
               int64_t opset) {
  std::vector<int64_t> widths;
  std::vector<Value*> results;
  for (const Branch& b : branches) {
    widths.push_back(b.width());
    results.push_back(b.result());
  }
  const bool is_even = std::all_of(widths.begin(), widths.end(), [&](int64_t w) { return w == widths[0]; });
  std::vector<Patch::Ref> inputs = {all};
  AttributeList attributes = {{"axis", axis}};
  if (is_even && opset >= 18)
    attributes.emplace_back("num_outputs", static_cast<int64_t>(widths.size()));
  else if (!is_even && opset >= 13)
    inputs.push_back(
        patch.constant(branches.front().product->input(1)->name() + "/split", Tensor::vector(widths)));
  else if (!is_even)
    attributes.emplace_back("split", widths);
  patch.add_multi("Split", std::move(inputs), std::move(attributes), std::move(results));
}

/// The products of `x` that can become one.
std::vector<Branch> branches_of(const Branch& first, const Value* x, const PassContext& context) {
  std::vector<Branch> branches;
  size_t bytes = 0;
  for (const Node* user : x->consumers()) {
    if (&user->graph() != &first.product->graph()) continue;
    const std::optional<Branch> b = branch_of(*user, x, context);
    if (!b || !b->goes_with(first)) continue;
    branches.push_back(*b);
    bytes += b->weight->nbytes();
  }
  return bytes <= kMaxBytes ? branches : std::vector<Branch>();
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const int64_t opset = context.model.opset();
  const Value* x = n.input(0);
  if (opset < 7 || x == nullptr || x->is_constant() || context.is_widely_used(x)) return std::nullopt;
  const std::optional<Branch> first = branch_of(n, x, context);
  if (!first) return std::nullopt;
  const std::vector<Branch> branches = branches_of(*first, x, context);
  const auto sums =
      std::count_if(branches.begin(), branches.end(), [](const Branch& b) { return b.sum != nullptr; });
  // What remains: the product, the Split, and one Add for all.
  if (static_cast<int64_t>(branches.size()) + sums <= 2 + (sums > 0 ? 1 : 0)) return std::nullopt;
  const int rank = rank_of(n.output(0));
  if (rank < 1 && opset < 11) return std::nullopt;

  int64_t width = 0;
  for (const Branch& b : branches) width += b.width();
  Patch patch(n);
  patch.set_name(n.name);
  for (const Branch& b : branches) {
    patch.remove(*b.product);
    if (b.sum != nullptr) patch.remove(*b.sum);
  }
  std::vector<Patch::Ref> inputs = {n.input(0),
                                    patch.constant(n.input(1)->name() + "/joined", joined(branches, width))};
  const bool has_bias =
      std::any_of(branches.begin(), branches.end(), [](const Branch& b) { return b.bias != nullptr; });
  const Patch::Ref bias =
      has_bias ? patch.constant(first->result()->name() + "/bias", joined_biases(branches, width))
               : Patch::Ref();
  AttributeList attributes;
  if (first->transposed) attributes.emplace_back("transB", int64_t{1});
  if (has_bias && sums == 0) inputs.push_back(bias);
  Patch::Ref all = patch.add(n.op_type, std::move(inputs), std::move(attributes));
  if (sums > 0) all = patch.add("Add", {all, bias});
  add_split(patch, all, branches, rank < 1 ? -1 : rank - 1, opset);
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_products",
    .summary = "products of one value with several weights become one, which a Split takes apart",
    .conditions =
        "Opset 7 or later. Weights are constants of rank 2 and one floating type with the same first extent, "
        "which nobody else uses, 64 MiB in all at most; Gemm with alpha and beta 1 and without transA; "
        "biases are constants that fit the last axis.",
    .match = match,
};

}  // namespace assay::pass_merge_products
