// Reshape and related operators: the same memory under another shape. DequantizeLinear: the same values, for
// consumers that read them as stored. Nothing runs.
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_view {
namespace {

constexpr std::string_view kOperators[] = {"DequantizeLinear"};

bool serves(const OpFacts& facts) { return facts.is_view(); }

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) == 0) return "strings have no memory to look at";
  if (is_op(p.node(), "DequantizeLinear"))
    return read_quantization(p.node()) ? ""
                                       : "its parameters are not one constant scale and zero point of 8 bits";
  if (p.input_dtype(0) != p.output_dtype(0)) return "the element type changes";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Value *in = p.node().input(0), *out = p.node().output(0);
  if (const auto q = read_quantization(p.node())) {
    for (const Layout layout : p.layouts(q->dtype, *p.input_shape(0)))
      proposals.add("int8_" + layout.str(), NumericsClass::kExact)
          .add_view(out, {layout, q->dtype}, in, layout, 0);
    return {};
  }
  // Images that lie in another layout stay as they are where batch and channels do, too.
  const Shape &from = *p.input_shape(0), &to = *p.output_shape(0);
  const bool same =
      from.rank() >= 3 && to.rank() >= 3 && to.rank() <= 5 && from[0] == to[0] && from[1] == to[1];
  const bool may_narrow = p.stores_bfloat16() && may_be_stored_in(p, in, DType::kBFloat16) &&
                          may_be_stored_in(p, out, DType::kBFloat16);
  for (const Layout layout : p.layouts(p.input_dtype(0), from)) {
    if (!layout.is_row() && !same) continue;
    proposals.add(layout.str(), NumericsClass::kExact).add_view(out, layout, in, layout, 0);
    if (!may_narrow || layout.is_blocked()) continue;
    const Format narrow(layout, DType::kBFloat16);
    proposals.add("bfloat16_" + layout.str(), NumericsClass::kExact).add_view(out, narrow, in, narrow, 0);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "view",
    .summary = "another shape, type or name for the same memory",
    .operators = kOperators,
    .serves = serves,
    .propose = propose,
};

}  // namespace assay::engine::tactic_view
