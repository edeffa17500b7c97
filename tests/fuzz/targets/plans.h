// Plans as inputs of targets: small ones that use every tactic, and what is done with one that may be
// anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/plan_file.h"

namespace assay::fuzz {

/// Plan files of small networks, in every way that the engine can run them. Throws Error when a tactic of
/// this build is in none of them, so that no tactic goes without.
const std::vector<std::string>& plan_seeds();

/// The properties that kernels depend on here.
const std::string& plan_environment_here();

/// Loads the plan, runs every kernel of it on operands in blocks of exactly their size, and then the
/// whole of it, unless that may rightly take long. Ends the process where a kernel writes outside its
/// operands. Throws Error.
void run_plan(std::string_view bytes);

/// Puts the checksums right that a change has made wrong.
void repair_checksums(std::string& plan);

}  // namespace assay::fuzz
