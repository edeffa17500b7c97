// What a runner was asked to compute in, beside the types of the model.
#pragma once

#include <functional>
#include <string>

#include "assay/arbiter.h"
#include "reference/lowering.h"

namespace assay {

/// The same as the reference knows it.
struct Asked {
  NarrowTypes types;
  Lowering lowering;

  /// What of it concerns a node; empty: nothing does. Null: a result of several nodes, or of the network.
  std::string of(const Node* n) const;
};

/// `own`: the runner's tensor of a name; undefined where it is not known. A step is granted as far as the
/// tensor needs it: not beyond several times what shows its largest number, where those of most others are
/// not so large, either.
Asked read_asked(const Model& model, const NarrowTypes& types,
                 const std::function<Tensor(const std::string&)>& own);

}  // namespace assay
