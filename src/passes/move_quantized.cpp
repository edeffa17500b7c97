// An operator that only moves or selects elements, between DequantizeLinear and QuantizeLinear, works on the
// levels themselves: quantizing a level's own number gives the level. Levels of other scales are quantized
// again before they move, which gives what quantizing the moved numbers does.
#include <algorithm>
#include <cmath>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_move_quantized {
namespace {

/// MaxPool takes 8-bit numbers from this opset on.
constexpr int64_t kMaxPoolOpset = 12;

/// ONNX has it for 8-bit numbers from its first version on.
bool is_selection(const Node& n) { return is_op(n, "Resize") && selects_elements(n); }

bool enlarges(const Node& n) {
  const auto in = shape_of(n.input(0)), out = shape_of(n.output(0));
  return in && out && out->numel() >= in->numel();
}

/// Its first input, or every one of Concat's, has the elements of the result.
bool is_moving(const Node& n, const Model& model) {
  if (is_op(n, "MaxPool") && model.opset() < kMaxPoolOpset) return false;
  return n.outputs().size() == 1 && n.output(0) != nullptr && !is_held_in_floats(n) &&
         (facts_of(n, model).gives_first() || is_op(n, "Concat") || is_op(n, "MaxPool") || is_selection(n));
}

/// More than any exporter writes between two quantizations.
constexpr int kMaxMoves = 8;

class LevelMover {
 public:
  /// New nodes are inserted at `anchor`.
  LevelMover(const Node& quantize, const Quantization& to, const PassContext& context, const Node& anchor)
      : quantize_(quantize), to_(to), context_(context), patch_(anchor) {}

  std::optional<Patch> run() {
    // Numbers that overflow are not those of their levels.
    if (!std::isfinite(to_.scale * 255)) return std::nullopt;
    const Node* const last = quantize_.input(0)->producer();
    if (last == nullptr || !comes_from_levels(quantize_.input(0), quantize_, {})) return std::nullopt;
    patch_.remove(quantize_);
    move(*last, quantize_.output(0));
    return std::move(patch_);
  }

  /// The same where several QuantizeLinear, each of this quantization, are behind the outputs of a Split.
  std::optional<Patch> run_split(const Node& split) {
    if (!std::isfinite(to_.scale * 255) || is_held_in_floats(split)) return std::nullopt;
    if (!comes_from_levels(split.input(0), split, Way{}.behind(split, context_.model))) return std::nullopt;
    std::vector<Value*> outputs;
    for (const Value* v : split.outputs()) {
      const Node* next = v == nullptr ? nullptr : context_.sole_consumer(v);
      if (next == nullptr || !is_op(*next, "QuantizeLinear") || !is_same(read_quantization(*next)))
        return std::nullopt;
      outputs.push_back(next->output(0));
      patch_.remove(*next);
    }
    std::vector<Patch::Ref> inputs(split.inputs().begin(), split.inputs().end());
    inputs[0] = quantized_of(split.input(0), split);
    AttributeList attributes;
    for (const Attribute& a : split.attributes) attributes.emplace_back(a.name, a.data);
    patch_.remove(split);
    patch_.add_multi(split.op_type, std::move(inputs), std::move(attributes), std::move(outputs));
    return std::move(patch_);
  }

 private:
  /// The moves between a value and the QuantizeLinear.
  struct Way {
    int moves = 0;
    bool takes_all = true;  ///< none of them leaves most elements out

    Way behind(const Node& n, const Model& model) const {
      const bool takes = facts_of(n, model).is_view() || is_op(n, "Concat") || is_op(n, "MaxPool") ||
                         is_op(n, "Transpose") || is_op(n, "Split") || (is_selection(n) && enlarges(n));
      return {moves + 1, takes_all && takes};
    }
  };

  /// Whether `v` may be made of levels for its only user: moves, at least one, of numbers that have levels,
  /// or get them as well as later.
  bool comes_from_levels(const Value* v, const Node& user, const Way& way) const {
    if (v == nullptr || v->producer() == nullptr) return false;
    if (way.moves > 0 && (is_dequantized(v) || (way.takes_all && is_better_quantized(v, user)))) return true;
    const Node& n = *v->producer();
    if (way.moves == kMaxMoves || !is_moving(n, context_.model) || context_.sole_consumer(v) != &user)
      return false;
    for (size_t i = 0; i < moved_inputs(n); ++i)
      if (!comes_from_levels(n.input(i), n, way.behind(n, context_.model))) return false;
    return true;
  }

  /// Where the levels are made.
  bool is_leaf(const Value* v, const Node& user) const {
    return is_dequantized(v) || is_better_quantized(v, user);
  }

  static bool is_dequantized(const Value* v) {
    const std::optional<Quantization> from = quantization_of(v);
    return from && std::isfinite(from->scale * 255) && !is_held_in_floats(*v->producer());
  }

  /// Numbers that only this node uses, and whose producer may quantize them at once: products with weights
  /// and what follows them.
  bool is_better_quantized(const Value* v, const Node& user) const {
    if (dtype_of(v) != DType::kFloat32 || context_.sole_consumer(v) != &user) return false;
    const Node& n = *v->producer();
    if (is_held_in_floats(n) || is_region(n)) return false;
    const OpFacts& facts = facts_of(n, context_.model);
    const bool has_weights = n.inputs().size() > 1 && constant_of(n.input(1)) != nullptr;
    return facts.product != ProductFact::kNone ? has_weights : facts.elementwise > 0;
  }

  bool is_same(const std::optional<Quantization>& q) const {
    return q && q->scale == to_.scale && q->zero_point == to_.zero_point && q->dtype == to_.dtype;
  }
  bool has_same_levels(const Value* v) const { return is_same(quantization_of(v)); }

  Type quantized_type(const Value* v) const {
    Type type = v->type;
    type.dtype = to_.dtype;
    return type;
  }

  /// The levels of a number's levels, made anew.
  Patch::Ref requantized(Value* v) {
    std::vector<Patch::Ref> inputs = {v};
    for (size_t i = 1; i < quantize_.inputs().size(); ++i) inputs.emplace_back(quantize_.input(i));
    AttributeList attributes;
    for (const Attribute& a : quantize_.attributes) attributes.emplace_back(a.name, a.data);
    return patch_.add("QuantizeLinear", std::move(inputs), std::move(attributes), nullptr, quantized_type(v));
  }

  static size_t moved_inputs(const Node& n) { return is_op(n, "Concat") ? n.inputs().size() : 1; }

  Patch::Ref quantized_of(Value* v, const Node& user) {
    if (has_same_levels(v)) return v->producer()->input(0);
    return is_leaf(v, user) ? requantized(v) : move(*v->producer(), nullptr);
  }

  Patch::Ref move(const Node& n, Value* output) {
    std::vector<Patch::Ref> inputs;
    for (size_t i = 0; i < n.inputs().size(); ++i)
      inputs.push_back(i < moved_inputs(n) ? quantized_of(n.input(i), n) : Patch::Ref(n.input(i)));
    AttributeList attributes;
    for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
    patch_.remove(n);
    return patch_.add(n.op_type, std::move(inputs), std::move(attributes), output,
                      quantized_type(n.output(0)), n.domain);
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
  const Node* split = producer_of(n.input(0), "Split");
  if (split != nullptr && split->outputs().size() > 1)
    return LevelMover(n, *to, context, *split).run_split(*split);
  return LevelMover(n, *to, context, n).run();
}

}  // namespace

constinit const PassDef def = {
    .name = "move_quantized",
    .summary = "what moves or selects elements before they are quantized works on 8 bits",
    .conditions =
        "QuantizeLinear behind operators that only move or select elements (Resize to the nearest is one), "
        "with one scale for the tensor "
        "(finite for all levels), uint8 or int8; MaxPool from opset 12 on. Behind them DequantizeLinear of "
        "the "
        "same kind, or, where they leave no elements out, float32 of products with constant weights and "
        "element-wise operators, which nothing else uses. Nothing else uses what lies between; all outputs "
        "of a "
        "Split are quantized alike.",
    .match = match,
};

}  // namespace assay::pass_move_quantized
