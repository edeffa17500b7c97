// Concatenation. Inputs that the planner could place inside the result are there already; the others are
// copied.
#include <algorithm>

#include "engine/tactics/move/concat_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_concat {
namespace {

constexpr std::string_view kOperators[] = {"Concat"};

std::string supports(const Problem& p) {
  const Shape* out = p.output_shape(0);
  if (out == nullptr) return "the shape is not known before the run";
  if (bit_width(p.output_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.input_shape(i) == nullptr) return "the shape of an input is not known before the run";
  return {};
}

/// Every part must begin and end with a block of channels.
bool fits_blocks(const Problem& p, size_t axis, Layout layout) {
  for (size_t i = 0; i + 1 < p.input_count() && axis == 1; ++i)
    if ((*p.input_shape(i))[1] % layout.block != 0) return false;
  return true;
}

/// Every part and the result may be stored in bfloat16.
bool may_be_narrow(const Problem& p) {
  if (!p.stores_bfloat16() || !may_be_stored_in(p, p.node().output(0), DType::kBFloat16)) return false;
  for (const Value* v : p.node().inputs())
    if (!may_be_stored_in(p, v, DType::kBFloat16)) return false;
  return true;
}

void add_candidate(const Problem& p, size_t axis, Format format, Proposals& proposals) {
  const Shape& out = *p.output_shape(0);
  const Layout layout = format.layout;
  const bool is_narrow = format.dtype != DType::kUndefined;
  Candidate& b = proposals.add(layout.str() + (is_narrow ? "_bfloat16" : ""), NumericsClass::kExact);
  const Shape memory = memory_extents(out, layout);
  const size_t place = memory_axis(axis, out.size(), layout);
  const auto width = static_cast<int64_t>(storage_bytes(stored_type(p.node().output(0), format), 1));
  const int64_t inner = memory.numel(place + 1, memory.size());
  std::vector<int64_t> offsets;
  int64_t at = 0;
  size_t inputs = 0;
  for (size_t i = 0; i < p.input_count(); ++i) {
    const int64_t extent = memory_extents(*p.input_shape(i), layout)[place];
    if (p.input_shape(i)->numel() == 0) continue;
    b.add_input(p.node().input(i), format);
    offsets.push_back(at * inner);
    if (memory.numel(0, place) == 1)
      b.step.placements.push_back({.input = static_cast<int32_t>(inputs), .offset = at * inner * width});
    ++inputs;
    at += extent;
  }
  b.add_output(p.node().output(0), format);
  b.write(StepFields{.axis = static_cast<int64_t>(axis), .offsets = offsets});
  // What can be computed in place costs nothing.
  const double moved = b.step.placements.empty() ? 2.0 * static_cast<double>(out.numel() * width) : 0;
  b.estimate = estimate_seconds(0, moved, 1);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Shape& out = *p.output_shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(p.attributes().attr_int("axis"), out.rank()));
  for (const Layout layout : p.layouts(p.output_dtype(0), out))
    if (!layout.is_blocked() || fits_blocks(p, axis, layout)) add_candidate(p, axis, layout, proposals);
  if (!may_be_narrow(p)) return {};
  for (const Layout layout : p.layouts(DType::kFloat32, out))
    if (!layout.is_blocked()) add_candidate(p, axis, {layout, DType::kBFloat16}, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "concat",
    .summary = "inputs side by side; those that can be written in place are",
    .version = 2,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_concat
