// Values brought from one format into another. The builder adds these steps itself; no operator asks for
// them.
#pragma once

#include <vector>

#include "engine/tactics/tactic_list.h"

namespace assay::engine {

/// The formats on the way from one to another, the last one first to be reached last: each differs from the
/// one before in layout or in element type. Empty where both are the same memory.
std::vector<Format> reorder_path(const Value& v, const Shape& shape, Format from, Format to);

/// One step of a path.
struct ReorderStep {
  const TacticDef* tactic;
  Candidate candidate;
};
ReorderStep make_reorder(const Value& v, const Shape& shape, Format from, Format to);

}  // namespace assay::engine
