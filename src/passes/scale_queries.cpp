// A factor of each head by which attention's scores are multiplied goes to the queries: what is left between
// the products is a mask and a softmax, which the engine computes with them as attention. (The cosine
// attention of Swin Transformer V2: Z. Liu et al., CVPR 2022.)
#include <algorithm>
#include <cmath>

#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_scale_queries {
namespace {

/// More than there are between a product and its softmax.
constexpr int kMaxSteps = 8;
/// Queries times a factor are to stay within their type.
constexpr float kMaxFactor = 1024;

bool leads_to_softmax(const Node& n, const PassContext& context) {
  const Node* user = context.sole_consumer(n.output(0));
  for (int step = 0; user != nullptr && step < kMaxSteps; ++step) {
    if (is_op(*user, "Softmax")) return true;
    if (!is_op(*user, "Add") && !is_op(*user, "Reshape") && !is_op(*user, "Where")) return false;
    user = context.sole_consumer(user->output(0));
  }
  return false;
}

bool are_moderate(const UnalignedTensor& factors) {
  const Tensor t = factors.aligned();
  return std::ranges::all_of(
      t.span<float>(), [](float x) { return std::abs(x) <= kMaxFactor && std::abs(x) >= 1 / kMaxFactor; });
}

/// One for each matrix of the scores, or for those of some axes.
bool are_of_heads(const Shape& factors, const Shape& scores) {
  const int64_t rank = factors.rank();
  if (rank < 3 || rank > scores.rank() || factors.numel() == 1) return false;
  if (factors[static_cast<size_t>(rank - 1)] != 1 || factors[static_cast<size_t>(rank - 2)] != 1)
    return false;
  for (int64_t i = 1; i <= rank; ++i) {
    const int64_t extent = factors[static_cast<size_t>(rank - i)];
    if (extent != 1 && extent != scores[static_cast<size_t>(scores.rank() - i)]) return false;
  }
  return true;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Mul") || context.model.opset() < 7 || dtype_of(n.output(0)) != DType::kFloat32)
    return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Node* product = producer_of(n.input(side), "MatMul");
    const UnalignedTensor* factors = constant_of(n.input(1 - side));
    if (product == nullptr || factors == nullptr || context.sole_consumer(product->output(0)) != &n) continue;
    const std::optional<Shape> scores = shape_of(product->output(0)), queries = shape_of(product->input(0));
    if (!scores || !queries || scores->rank() != queries->rank() ||
        !are_of_heads(factors->shape(), *scores) || !are_moderate(*factors) || !leads_to_softmax(n, context))
      continue;
    Patch patch(n);
    patch.remove(*product);
    patch.remove(n);
    const Patch::Ref scaled =
        patch.add("Mul", {product->input(0), n.input(1 - side)}, {}, nullptr, Type::tensor(DType::kFloat32));
    patch.add("MatMul", {scaled, product->input(1)}, {}, n.output(0));
    return patch;
  }
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "scale_queries",
    .summary = "factors of heads by which attention's scores are multiplied go to the queries",
    .conditions =
        "Opset 7 or later, float32. A MatMul of known shapes and equal ranks, multiplied by a constant that "
        "is the same for all scores of a matrix, between 1 / 1024 and 1024; a Softmax follows behind at most "
        "seven of Add, Where and Reshape. Nothing else uses what is between. Queries times a factor may "
        "leave the range of float32 where the scores do not.",
    .match = match,
};

}  // namespace assay::pass_scale_queries
