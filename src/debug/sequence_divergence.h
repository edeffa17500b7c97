// Where two runs of a model that generates begin to differ: the step, the token that it chooses, and the
// layers of that step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/generate.h"
#include "debug/divergence.h"
#include "debug/layer_run.h"

namespace assay::debug {

/// One of the two.
struct GeneratingSide {
  std::string name;
  std::function<std::shared_ptr<Session>()> open;          ///< the model as it is
  std::function<std::unique_ptr<LayerRun>()> open_layers;  ///< the model with every tensor marked
};

struct SequenceDivergenceOptions {
  std::vector<generate::Tokens> prompts;
  int64_t max_tokens = 32;    ///< for each prompt
  std::vector<int64_t> ends;  ///< tokens that end a sequence
  generate::InterfaceNames names = {};
  /// Evaluated in float64 where the two choose different tokens; null: nothing is judged.
  std::shared_ptr<const Model> judged = {};
  LayerTolerance tolerance = {};
  bool matches_values = false;  ///< DivergenceOptions
};

/// The logits of the last token, or a cache, that differ.
struct OutputDifference {
  std::string first, second;  ///< its name on each side
  TensorDifference difference;
};

/// One step, and its layers.
struct StepDivergence {
  size_t prompt = 0;
  size_t index = 0;        ///< of the generated token that the step chooses, or leads to
  int64_t positions = 0;   ///< of the sequence before it
  generate::Tokens added;  ///< that it is fed
  /// Beyond the tolerance, with each side on its own cache.
  std::vector<OutputDifference> outputs;
  bool parts = false;  ///< the two choose different tokens
  /// The layers were run on the first one's cache; false: each ran on its own, since they have other forms.
  bool from_one_cache = true;
  DivergenceReport layers;  ///< its one iteration is the step
};

struct SequenceDivergence {
  std::string first_name, second_name;
  size_t prompts = 0;             ///< that were looked at
  size_t equal_tokens = 0;        ///< of all of them
  double largest_difference = 0;  ///< of logits, in all steps
  double smallest_margin = 0;     ///< between the two most likely tokens of the first one, in all steps
  /// Different choices: at most one a prompt. Behind one that rounding explains the next prompt is looked at.
  std::vector<generate::Parting> partings;
  /// The first step whose outputs differ beyond the tolerance, then, if it is another one, that of the
  /// parting that rounding does not explain.
  std::vector<StepDivergence> steps;
  /// Why a side could not choose a token behind the first of these steps, such as logits that hold NaN; empty
  /// where both could.
  std::string stopped;

  bool all_right() const { return steps.empty(); }
};

/// Generates on both side by side, the most likely token each, until a prompt makes them differ. Both
/// sessions are open while it generates, one after the other while it looks at layers. Of the sequence it
/// holds the caches of at most three steps. Throws Error, which names token, prompt and side.
SequenceDivergence find_sequence_divergence(const GeneratingSide& first, const GeneratingSide& second,
                                            const SequenceDivergenceOptions& options,
                                            generate::Observer& observer);

std::string sequence_divergence_json(const SequenceDivergence& found);

}  // namespace assay::debug
