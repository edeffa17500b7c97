// Polygraphy's tactic replay files: which algorithm TensorRT's builder took for each layer of a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/builder.h"

namespace assay {

/// How an algorithm wants one of its tensors.
struct TacticTensor {
  std::string dtype;  ///< as TensorRT prints it: DataType.FLOAT
  std::vector<int64_t> strides;
  std::optional<int64_t> vectorized_dim, components_per_element;
  bool operator==(const TacticTensor&) const = default;
};

struct TacticAlgorithm {
  int64_t implementation = 0, tactic = 0;
  std::vector<TacticTensor> inputs, outputs;
  std::string name = {};  ///< in replays of our own engine: "dnnl_conv:blocked8"
  bool operator==(const TacticAlgorithm&) const = default;
  /// As Python prints it: (Implementation: 0, Tactic: 2) | Inputs: (TensorInfo(...),) | Outputs: (...).
  std::string str() const;
  bool is_same_tactic(const TacticAlgorithm& other) const {
    return implementation == other.implementation && tactic == other.tactic;
  }
};

/// Layers in the order of the file; each once.
using TacticReplay = std::vector<std::pair<std::string, TacticAlgorithm>>;
/// The different algorithms that some replays have for each layer, in the order of their first occurrence.
using TacticChoices = std::vector<std::pair<std::string, std::vector<TacticAlgorithm>>>;

/// What our own engine's builder chose, in the terms of a replay: the numbers are hashes of the tactic's name
/// and of its way's.
TacticAlgorithm tactic_algorithm(const Algorithm& algorithm);

/// Logs that it saves. Throws Error (kIo).
void save_tactic_replay(const TacticReplay& replay, const std::string& path);

/// Logs that it loads. Throws Error for a file that is missing, no JSON, or no tactic replay.
TacticReplay load_tactic_replay(const std::string& path);

/// What replays have in common.
struct TacticSet {
  std::vector<std::string> paths;  ///< of the replays
  TacticChoices choices;
};
/// The replay at `path`, or those in the folder at `path` and its subfolders, in the order of their names.
/// What is not a replay is passed over, with a verbose line. Nothing is found where there is nothing.
TacticSet load_tactic_set(const std::string& path);

/// What only `bad` has: layers and algorithms, without those that `good` has for the same layer.
TacticChoices subtract_tactics(const TacticChoices& bad, const TacticChoices& good);

}  // namespace assay
