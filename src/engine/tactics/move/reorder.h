// Conversion of values between formats. The builder
// adds these steps itself; no operator requests them.
#pragma once

#include <vector>

#include "engine/tactics/tactic_list.h"

namespace assay::engine {

/// The formats on the way from one to another: each differs from the previous one in layout or in element
/// type. Empty if both are the same memory.
std::vector<Format> reorder_path(const Value& v, const Shape& shape, Format from, Format to);

/// One step of a path.
struct ReorderStep {
  const TacticDef* tactic;
  Candidate candidate;
};
ReorderStep make_reorder(const Value& v, const Shape& shape, Format from, Format to);

}  // namespace assay::engine
