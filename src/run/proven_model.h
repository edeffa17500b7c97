// A model that was edited as far as it is proved.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/edit_proof.h"
#include "run/equivalence.h"

namespace assay {

/// How much constants are folded.
enum class FoldExtent : uint8_t { kAll, kNoShapes, kNone };

struct ProvenModel {
  std::shared_ptr<Model> model;  ///< null: no edited model was found that agrees
  Equivalence comparison;        ///< of the model that was kept, else of the last one
  FoldExtent fold = FoldExtent::kAll;
  std::string fold_reason;  ///< what stood against more
  int made = 0;             ///< models that were made on the way
};

/// Makes an edited copy, asking the proof before each edit. Must give the same for the same answers.
using MakeModel = std::function<std::shared_ptr<Model>(EditProof&, FoldExtent)>;

/// Makes the model, compares it with the original, and where they differ finds the edit that is to blame by
/// halving the number of edits that are made, forbids it, and begins again. Edits that the proof refuses by
/// themselves are not made in the first place. Throws Error when no trial can be done.
ProvenModel make_proven(const std::shared_ptr<Model>& original, const MakeModel& make, EditProof& proof,
                        const EquivalenceOptions& options);

}  // namespace assay
