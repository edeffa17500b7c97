// The outcome of a case, and whether it is allowed.
#pragma once

#include <string>

#include "assay/backend.h"
#include "fuzz/random_case.h"

namespace assay::fuzz {

struct Judgement {
  bool accepted = false;  ///< the reference gave a result
  std::string problem;    ///< not empty: what must not happen
};

/// Infers and evaluates a case. A problem is an error that blames our own code or has no sentence, another
/// exception, too much time, or a result that contradicts its inferred type.
Judgement judge(const Case& c, ReferencePrecision precision);

/// Writes the case as a model without inputs: what was fed are its initializers. Containers cannot be, and
/// are left out.
void save_case(const Case& c, const std::string& path);

}  // namespace assay::fuzz
