// The ways to run a region of the network, and why others are none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/tactics/tactic.h"

namespace assay::engine {

/// How a candidate wants what it reads or writes.
struct OperandFormat {
  DType dtype = DType::kUndefined;
  std::optional<Shape> shape;  ///< nothing where it is not known before the run
  Layout layout;
};

/// Of values of the graph among a candidate's operands.
std::vector<OperandFormat> formats_of(const std::vector<Candidate::Operand>& operands);

/// A candidate with its tactic and, once it is known, its time.
struct Option {
  const TacticDef* tactic = nullptr;
  Candidate candidate;
  double seconds = 0;
  double noise = 0;  ///< how far measurements of `seconds` differed, as a share of it; 0: not measured here
  bool is_preferred = false;
  /// "dnnl_conv:blocked8", or the tactic's name where it has one way only.
  std::string name() const;
};

struct RegionOptions {
  std::vector<Option> options;    ///< in the order of tactics.def, and of each tactic's own
  std::vector<Refusal> refusals;  ///< of tactics without a candidate, and of candidates that rules exclude
};

}  // namespace assay::engine
