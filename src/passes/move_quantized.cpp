// An operator that only moves or selects elements, between DequantizeLinear and a QuantizeLinear with the
// same scale and zero point, works on the levels themselves: quantizing a level's own number gives the level.
#include <algorithm>
#include <cmath>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"

namespace assay::pass_move_quantized {
namespace {

/// MaxPool takes 8-bit numbers from this opset on.
constexpr int64_t kMaxPoolOpset = 12;

/// Its first input, or every one of Concat's, has the elements of the result.
bool is_moving(const Node& n, const Model& model) {
  if (is_op(n, "MaxPool") && model.opset() < kMaxPoolOpset) return false;
  return n.outputs().size() == 1 && n.output(0) != nullptr && !is_held_in_floats(n) &&
         (facts_of(n, model).gives_first() || is_op(n, "Concat") || is_op(n, "MaxPool"));
}

/// More than any exporter writes between two quantizations.
constexpr int kMaxMoves = 8;

class LevelMover {
 public:
  LevelMover(const Node& quantize, const Quantization& to, const PassContext& context)
      : quantize_(quantize), to_(to), context_(context), patch_(quantize) {}

  std::optional<Patch> run() {
    // Numbers that overflow are not those of their levels.
    if (!std::isfinite(to_.scale * 255)) return std::nullopt;
    const Node* const last = quantize_.input(0)->producer();
    if (last == nullptr || !comes_from_levels(quantize_.input(0), quantize_, 0)) return std::nullopt;
    patch_.remove(quantize_);
    move(*last, quantize_.output(0));
    return std::move(patch_);
  }

 private:
  /// Whether `v` may be made of levels for its only user: moves, at least one, of numbers of these levels.
  bool comes_from_levels(const Value* v, const Node& user, int moves) const {
    if (v == nullptr || v->producer() == nullptr) return false;
    if (moves > 0 && is_dequantized(v)) return true;
    const Node& n = *v->producer();
    if (moves == kMaxMoves || !is_moving(n, context_.model) || context_.sole_consumer(v) != &user)
      return false;
    for (size_t i = 0; i < moved_inputs(n); ++i)
      if (!comes_from_levels(n.input(i), n, moves + 1)) return false;
    return true;
  }

  bool is_dequantized(const Value* v) const {
    const std::optional<Quantization> from = quantization_of(v);
    return from && from->scale == to_.scale && from->zero_point == to_.zero_point && from->dtype == to_.dtype;
  }

  static size_t moved_inputs(const Node& n) { return is_op(n, "Concat") ? n.inputs().size() : 1; }

  Patch::Ref quantized_of(Value* v) {
    return is_dequantized(v) ? Patch::Ref(v->producer()->input(0)) : move(*v->producer(), nullptr);
  }

  Patch::Ref move(const Node& n, Value* output) {
    std::vector<Patch::Ref> inputs;
    for (size_t i = 0; i < n.inputs().size(); ++i)
      inputs.push_back(i < moved_inputs(n) ? quantized_of(n.input(i)) : Patch::Ref(n.input(i)));
    AttributeList attributes;
    for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
    Type type = n.output(0)->type;
    type.dtype = to_.dtype;
    patch_.remove(n);
    return patch_.add(n.op_type, std::move(inputs), std::move(attributes), output, type, n.domain);
  }

  const Node& quantize_;
  Quantization to_;
  const PassContext& context_;
  Patch patch_;
};

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "QuantizeLinear") || n.input(0) == nullptr) return std::nullopt;
  const std::optional<Quantization> to = read_quantization(n);
  if (!to) return std::nullopt;
  return LevelMover(n, *to, context).run();
}

}  // namespace

constinit const PassDef def = {
    .name = "move_quantized",
    .summary = "what moves or selects elements between equal quantizations works on the levels",
    .conditions =
        "QuantizeLinear behind operators that only move or select elements, behind DequantizeLinear with the "
        "same scale (finite for all levels), zero point and type, one for the tensor, uint8 or int8; MaxPool "
        "from opset 12 on. Nothing else uses what lies between.",
    .match = match,
};

}  // namespace assay::pass_move_quantized
