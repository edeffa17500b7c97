#include "engine/tactics/pointwise/region.h"

#include <algorithm>

#include "analysis/match.h"
#include "naming/origins.h"
#include "ops/node_facts.h"

namespace assay::engine {
namespace {

using kernels::PointwiseOp;

constexpr PointwiseOp kCommutative[] = {PointwiseOp::kAdd, PointwiseOp::kMul, PointwiseOp::kMax,
                                        PointwiseOp::kMin};
constexpr PointwiseOp kOrdered[] = {PointwiseOp::kSub, PointwiseOp::kDiv};

template <size_t N>
bool contains(const PointwiseOp (&list)[N], PointwiseOp op) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

}  // namespace

bool is_main_operator(const Node& n, const Model& model) {
  return facts_of(n, model).product != ProductFact::kNone;
}

bool is_integer_product(const Node& n, const Model& model) {
  return facts_of(n, model).product == ProductFact::kIntegers;
}

Region node_region(const Node& n) { return {.kind = RegionKind::kNode, .nodes = {&n}, .main = &n}; }

Region pointwise_region(std::vector<const Node*> nodes) {
  const Node* last = nodes.back();
  return {.kind = RegionKind::kPointwise, .nodes = std::move(nodes), .main = last};
}

std::optional<EpilogueStep> epilogue_step(const Node& n, const Value* running, const Model& model) {
  std::optional<PointwiseForm> form = pointwise_form(n, model);
  if (!form || dtype_of(running) != DType::kFloat32) return std::nullopt;
  if (form->op == PointwiseOp::kQuantizeUint8 || form->op == PointwiseOp::kQuantizeInt8)
    return EpilogueStep{std::move(*form), &n, nullptr};
  if (dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  if (form->operands.size() == 1) {
    if (form->operands[0] != running) return std::nullopt;
    return EpilogueStep{std::move(*form), &n, nullptr};
  }
  if (form->operands.size() != 2 || form->operands[0] == form->operands[1]) return std::nullopt;
  const bool first = form->operands[0] == running;
  if (!contains(kCommutative, form->op) && !(first && contains(kOrdered, form->op))) return std::nullopt;
  Value* operand = form->operands[first ? 1 : 0];
  return dtype_of(operand) == DType::kFloat32 ? std::optional(EpilogueStep{std::move(*form), &n, operand})
                                              : std::nullopt;
}

std::vector<std::string> origins_of(const Region& region) {
  Origins origins;
  for (const Node* n : region.nodes) origins.add(assay::origins_of(*n));
  return origins.names();
}

}  // namespace assay::engine
