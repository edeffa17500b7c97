// Random valid nodes of every version of every operator, on the reference and on another backend.
#pragma once

#include <string>

#include "assay/backend.h"

namespace assay::fuzz {

struct DifferentialOptions {
  int rounds = 40;
  int first_round = 0;
  uint64_t seed = 1;
  int jobs = 1;
  std::string only = "*";
  std::string save;      ///< folder for the models of problems and explained differences; empty: none
  bool table = false;    ///< prints what became of every operator
  bool verbose = false;  ///< prints every case, and what the backend itself prints
  bool stale = false;    ///< prints the explanations that no case needed
  bool invalid = false;  ///< every case with one thing made wrong (spoil.h)
};

/// Runs `rounds` cases of every subject (operator-version) in child processes. Prints each class of problems
/// once, explained differences with their number, and the sums. Returns the number of problems.
int run_differential(const DifferentialOptions& options, const Backend& backend);

/// Runs the reproducer of every explanation for this backend, and prints those that do not show their
/// difference. Returns their number.
int run_reproducers(const Backend& backend);

}  // namespace assay::fuzz
