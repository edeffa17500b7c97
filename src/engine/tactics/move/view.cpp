// Reshape and related operators: the same memory under another shape. Transpose: of an image whose channels
// lie last already, or that is to have them there. DequantizeLinear: the same values, for consumers that read
// them as stored. Nothing runs.
#include <algorithm>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_view {
namespace {

constexpr std::string_view kOperators[] = {"DequantizeLinear", "Transpose"};

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

/// The same memory in these layouts, and with numbers of bfloat16 where both may hold them.
void add(const Problem& p, std::string variant, Layout from, Layout to, Proposals& proposals) {
  const Value *in = p.node().input(0), *out = p.node().output(0);
  proposals.add(variant, NumericsClass::kExact).add_view(out, to, in, from, 0);
  if (!p.stores_bfloat16() || from.is_blocked() || !may_be_stored_in(p, in, DType::kBFloat16) ||
      !may_be_stored_in(p, out, DType::kBFloat16))
    return;
  proposals.add("bfloat16_" + variant, NumericsClass::kExact)
      .add_view(out, {to, DType::kBFloat16}, in, {from, DType::kBFloat16}, 0);
}

/// Axis 1 goes behind all others, or the last axis to place 1: what is row-major on one side has its channels
/// last on the other.
std::string propose_transpose(const Problem& p, Proposals& proposals) {
  const std::optional<std::vector<int64_t>> perm = permutation_of(p.node());
  const Shape& from = *p.input_shape(0);
  const auto rank = static_cast<size_t>(from.rank());
  if (!perm || rank < 3 || perm->front() != 0) return "its axes are not those of an image";
  const auto follows = [&](size_t first, size_t last) {  // axes [first, last) in order
    return std::adjacent_find(perm->begin() + static_cast<std::ptrdiff_t>(first),
                              perm->begin() + static_cast<std::ptrdiff_t>(last), [](int64_t a, int64_t b) {
                                return b != a + 1;
                              }) == perm->begin() + static_cast<std::ptrdiff_t>(last);
  };
  const bool to_last = perm->back() == 1 && follows(1, rank - 1);
  const bool from_last = (*perm)[1] == from.rank() - 1 && follows(2, rank);
  const Layout channels_last = Layout::channels_last();
  const std::vector<Layout> layouts = p.layouts(p.input_dtype(0), from);
  if ((!to_last && !from_last) || std::find(layouts.begin(), layouts.end(), channels_last) == layouts.end())
    return "it does not move channels last, or back";
  if (to_last) add(p, "channels_last to row", channels_last, {}, proposals);
  if (from_last) add(p, "row to channels_last", {}, channels_last, proposals);
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
  if (is_op(p.node(), "Transpose")) return propose_transpose(p, proposals);
  // Images that lie in another layout stay as they are where batch and channels do, too.
  const Shape &from = *p.input_shape(0), &to = *p.output_shape(0);
  const bool same =
      from.rank() >= 3 && to.rank() >= 3 && to.rank() <= 5 && from[0] == to[0] && from[1] == to[1];
  for (const Layout layout : p.layouts(p.input_dtype(0), from))
    if (layout.is_row() || same) add(p, layout.str(), layout, layout, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "view",
    .summary = "another shape, type, order of axes or name for the same memory",
    .operators = kOperators,
    .serves = serves,
    .propose = propose,
};

}  // namespace assay::engine::tactic_view
