// Differences between the reference and another backend that are not the reference's fault.
#pragma once

#include <span>

#include "fuzz/compare.h"

namespace assay::fuzz {

/// One class of differences, as narrow as can be: which versions of which operators, and what a case and what
/// was seen must be like.
struct Explained {
  const char* name;      ///< unique
  const char* backend;   ///< onnxrt, engine
  const char* subjects;  ///< patterns of fnmatch() for operator-version, separated by blanks
  bool (*applies)(const Case&, const Comparison&);
  const char* reason;  ///< the specification's rule, and the backend's behaviour
  /// A case of that kind: op_fuzz --against BACKEND --only SUBJECT --seed 1 --round ROUND
  const char* subject;
  int round;
};

std::span<const Explained> explained();

/// The entry for what compare() called different or accepted by the other backend only, or for a crash
/// (Outcome::kCrashed); null when there is none.
const Explained* find_explained(const Case& c, const Comparison& seen, const std::string& backend,
                                const std::string& subject);

}  // namespace assay::fuzz
