// One pass on one graph: does the edited graph give what the original gives?
#pragma once

#include <string>

#include "fuzz/passes/draft.h"
#include "passes/pass.h"

namespace assay::fuzz {

struct Trial {
  bool is_valid = false;  ///< the original can be inferred and evaluated
  int64_t edits = 0;
  std::string problem;  ///< empty: none
  std::string text;     ///< with a problem: both graphs and what was fed
};

Trial try_pass(Draft& draft, const PassDef& pass);

}  // namespace assay::fuzz
