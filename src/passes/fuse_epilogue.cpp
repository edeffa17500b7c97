// Convolutions and matrix products take in what follows them: bias, activation, residual, scale; matrix
// products also the transpositions of their operands and of their result.
#include <algorithm>

#include "passes/fused_view.h"
#include "passes/match.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay {
namespace {

/// More steps than any network's layer has; keeps the kernels' argument lists short.
constexpr size_t kMaxSteps = 6;

/// How an operand may meet a result of shape `out`: whole, one number, or one number per channel of a
/// convolution or per column of a product.
bool operand_fits(const Value* operand, const Shape& out, bool conv) {
  const std::optional<Shape> shape = shape_of(operand);
  if (!shape || shape->rank() > out.rank()) return false;
  if (*shape == out || shape->numel() == 1) return true;
  const size_t axis = conv ? 1 : out.size() - 1;
  const size_t skipped = out.size() - shape->size();
  for (size_t d = 0; d < shape->size(); ++d) {
    const int64_t wanted = d + skipped == axis ? out[axis] : 1;
    if ((*shape)[d] != wanted) return false;
  }
  return skipped <= axis;
}

/// Transpositions of up to four dimensions that a strided matrix product can read or write.
const Node* foldable_transpose(const Value* v, const Node& user, const PassContext& context) {
  const Node* n = producer_of(v, "Transpose");
  if (n == nullptr || context.sole_consumer(v) != &user || constant_of(n->input(0)) != nullptr)
    return nullptr;
  const std::optional<Shape> shape = shape_of(v);
  return shape && shape->rank() >= 2 && shape->rank() <= 4 ? n : nullptr;
}

/// Absorbs what follows; the nodes in order.
std::vector<const Node*> following(const Node& main, const Shape& out, const PassContext& context) {
  std::vector<const Node*> nodes;
  const bool conv = is_op(main, "Conv");
  const Value* running = main.output(0);
  while (nodes.size() < kMaxSteps) {
    const Node* next = context.sole_consumer(running);
    if (next == nullptr) break;
    const std::optional<EpilogueStep> step = epilogue_step(*next, running);
    if (!step || shape_of(next->output(0)) != out) break;
    if (step->operand != nullptr && !operand_fits(step->operand, out, conv)) break;
    nodes.push_back(next);
    running = next->output(0);
  }
  return nodes;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_main_operator(n) || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  const std::optional<Shape> out = shape_of(n.output(0));
  if (!out || out->rank() < 2) return std::nullopt;
  std::vector<const Node*> nodes;
  if (is_op(n, "MatMul"))
    for (const Value* v : n.inputs())
      if (const Node* t = foldable_transpose(v, n, context)) nodes.push_back(t);
  nodes.push_back(&n);
  for (const Node* next : following(n, *out, context)) nodes.push_back(next);
  if (is_op(n, "MatMul")) {
    const Node* last = context.sole_consumer(nodes.back()->output(0));
    if (last != nullptr && is_op(*last, "Transpose") && out->rank() <= 4) nodes.push_back(last);
  }
  if (nodes.size() == 1) return std::nullopt;
  std::vector<Value*> inputs;
  for (size_t i = 0; i < n.inputs().size(); ++i) {
    const Node* t = i < 2 && n.input(i) != nullptr && n.input(i)->producer() != nullptr &&
                            std::find(nodes.begin(), nodes.end(), n.input(i)->producer()) != nodes.end()
                        ? n.input(i)->producer()
                        : nullptr;
    inputs.push_back(t != nullptr ? t->input(0) : n.input(i));
  }
  Patch patch = make_region(kFused, nodes, context, inputs);
  patch.set_name(n.name);
  return patch;
}

}  // namespace

constinit const PassDef pass_fuse_epilogue = {
    .name = "fuse_epilogue",
    .summary = "convolutions and matrix products take in bias, activation, residual and transpositions",
    .match = match,
};

}  // namespace assay
