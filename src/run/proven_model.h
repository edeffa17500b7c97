// A model edited as far as its equivalence is proved.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/edit_proof.h"
#include "run/equivalence.h"

namespace assay {

/// The extent of constant folding.
enum class FoldExtent : uint8_t { kAll, kNoShapes, kNone };

struct ProvenModel {
  std::shared_ptr<Model> model;  ///< null: no edited model was found that agrees
  Equivalence comparison;        ///< of the kept model, else of the last one
  FoldExtent fold = FoldExtent::kAll;
  std::string fold_reason;  ///< the counterexample to more folding
  int made = 0;             ///< number of models tried
};

/// Creates an edited copy, consulting the proof before each edit. Must be deterministic.
using MakeModel = std::function<std::shared_ptr<Model>(EditProof&, FoldExtent)>;

/// Creates the model and compares it with the original; if they differ, finds the wrong edit by bisection,
/// forbids it, and starts again. Edits refused by the local proof are never made. Throws Error when no trial
/// can be done.
ProvenModel make_proven(const std::shared_ptr<Model>& original, const MakeModel& make, EditProof& proof,
                        const EquivalenceOptions& options);

}  // namespace assay
