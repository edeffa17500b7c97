#include "engine/tactics/move/reorder.h"
#include "engine/tactics/dnnl/dnnl_util.h"
#include "engine/tactics/move/reorder_kernel.h"
#include "engine/tactics/pointwise/pointwise.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_reorder {
namespace {}  // namespace

constinit const TacticDef def = {
    .name = "reorder",
    .summary = "from one layout to another",
    .version = 3,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_reorder

namespace assay::engine {

std::vector<Format> reorder_path(const Value& v, const Shape& shape, Format from, Format to) {
  std::vector<Format> path;
  const auto go = [&](Layout layout, DType dtype) {
    const Format next(layout, dtype);
    if (next.dtype == from.dtype && same_memory(shape, from.layout, layout)) return;
    path.push_back(next);
    from = next;
  };
  // Blocks are of float32 only, and nothing goes from them to other blocks at once.
  const auto change_layout = [&](Layout layout) {
    if (layout != from.layout && layout.is_blocked() && from.layout.is_blocked()) go({}, from.dtype);
    go(layout, from.dtype);
  };
  if (from.dtype != to.dtype) {
    // Layouts change where there are fewer bytes.
    const bool widens = bit_width(stored_type(&v, from)) < bit_width(stored_type(&v, to));
    if (widens)
      change_layout(to.layout.is_blocked() ? Layout() : to.layout);
    else if (from.layout.is_blocked())
      change_layout({});
    go(same_memory(shape, from.layout, to.layout) ? to.layout : from.layout, to.dtype);
  }
  change_layout(to.layout);
  return path;
}

ReorderStep make_reorder(const Value& v, const Shape& shape, Format from, Format to) {
  if (from.dtype != to.dtype) return {&tactic_pointwise::def, make_conversion(v, shape, from, to)};
  Candidate c;
  c.add_input(&v, from);
  c.add_output(&v, to);
  return {&tactic_reorder::def, std::move(c)};
}

}  // namespace assay::engine
