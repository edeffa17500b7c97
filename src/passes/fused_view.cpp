#include "passes/fused_view.h"

#include <algorithm>

#include "passes/match.h"
#include "passes/region.h"

namespace assay {
namespace {

using kernels::PointwiseOp;

constexpr PointwiseOp kUnary[] = {
    PointwiseOp::kAbs,       PointwiseOp::kAffine,   PointwiseOp::kClip,        PointwiseOp::kElu,
    PointwiseOp::kGelu,      PointwiseOp::kGeluTanh, PointwiseOp::kHardSigmoid, PointwiseOp::kHardSwish,
    PointwiseOp::kLeakyRelu, PointwiseOp::kMish,     PointwiseOp::kRelu,        PointwiseOp::kSigmoid,
    PointwiseOp::kSilu,      PointwiseOp::kSquare,   PointwiseOp::kSqrt,        PointwiseOp::kTanh,
};
constexpr PointwiseOp kCommutative[] = {PointwiseOp::kAdd, PointwiseOp::kMul, PointwiseOp::kMax,
                                        PointwiseOp::kMin};
constexpr PointwiseOp kOrdered[] = {PointwiseOp::kSub, PointwiseOp::kDiv};

template <size_t N>
bool contains(const PointwiseOp (&list)[N], PointwiseOp op) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

const Node* only_consumer(const Value* v) { return v->consumers().size() == 1 ? v->consumers()[0] : nullptr; }

}  // namespace

bool is_main_operator(const Node& n) {
  for (const char* op : {"Conv", "Gemm", "MatMul"})
    if (is_op(n, op)) return true;
  return false;
}

std::optional<EpilogueStep> epilogue_step(const Node& n, const Value* running) {
  std::optional<PointwiseForm> form = pointwise_form(n);
  if (!form || dtype_of(n.output(0)) != DType::kFloat32 || dtype_of(running) != DType::kFloat32)
    return std::nullopt;
  if (form->operands.size() == 1) {
    if (form->operands[0] != running || !contains(kUnary, form->op)) return std::nullopt;
    return EpilogueStep{std::move(*form), &n, nullptr};
  }
  if (form->operands.size() != 2 || form->operands[0] == form->operands[1]) return std::nullopt;
  const bool first = form->operands[0] == running;
  if (!contains(kCommutative, form->op) && !(first && contains(kOrdered, form->op))) return std::nullopt;
  Value* operand = form->operands[first ? 1 : 0];
  return dtype_of(operand) == DType::kFloat32 ? std::optional(EpilogueStep{std::move(*form), &n, operand})
                                              : std::nullopt;
}

std::optional<FusedView> view_fused(const Node& n) {
  FusedView view;
  if (!is_region(n)) {
    view.main = &n;
    return is_main_operator(n) ? std::optional(std::move(view)) : std::nullopt;
  }
  if (!is_region(n, kFused)) return std::nullopt;
  const Graph& body = body_of(n);
  for (const auto& inner : body.nodes())
    if (is_main_operator(*inner)) view.main = inner.get();
  if (view.main == nullptr) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) view.transposed[i] = producer_of(view.main->input(i), "Transpose");
  const Value* running = view.main->output(0);
  while (running != body.outputs[0]) {
    const Node* next = only_consumer(running);
    if (next == nullptr) return std::nullopt;
    if (is_op(*next, "Transpose")) {
      view.result_transposed = next;
      return next->output(0) == body.outputs[0] ? std::optional(std::move(view)) : std::nullopt;
    }
    std::optional<EpilogueStep> step = epilogue_step(*next, running);
    if (!step) return std::nullopt;
    view.epilogue.push_back(std::move(*step));
    running = next->output(0);
  }
  return view;
}

}  // namespace assay
