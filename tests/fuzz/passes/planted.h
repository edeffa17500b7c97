// Passes that are wrong on purpose: the fuzzer must find a counterexample of each.
#pragma once

#include <span>

#include "fuzz/passes/draft.h"
#include "passes/pass.h"

namespace assay::fuzz {

struct Planted {
  PassDef pass;
  void (*draw)(Draft&);  ///< that of the right pass
};

std::span<const Planted> planted_passes();

}  // namespace assay::fuzz
