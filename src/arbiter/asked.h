// Computation types requested of a runner, in addition to the model's.
#pragma once

#include <functional>
#include <string>

#include "assay/arbiter.h"
#include "reference/lowering.h"

namespace assay {

/// The same in the reference's form.
struct Asked {
  NarrowTypes types;
  Lowering lowering;

  /// The part that applies to a node; empty: none. Null: a result of several nodes, or of the network.
  std::string of(const Node* n) const;
};

/// `own`: the runner's tensor of a name; undefined if unknown. A step is accepted as far as the tensor needs
/// it: at most several times the one that represents its largest number, unless most other steps are as
/// large.
Asked read_asked(const Model& model, const NarrowTypes& types,
                 const std::function<Tensor(const std::string&)>& own);

}  // namespace assay
