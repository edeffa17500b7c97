// Polygraphy's tactic replay files: the algorithm that TensorRT's builder chose for each layer of a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/builder.h"

namespace assay {

/// The format of an algorithm's tensor.
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

/// The choice of the built-in engine's builder as a replay entry: the numbers are hashes of the tactic's and
/// the variant's names.
TacticAlgorithm tactic_algorithm(const Algorithm& algorithm);

/// Logs that it saves. Throws Error (kIo).
void save_tactic_replay(const TacticReplay& replay, const std::string& path);

/// Logs that it loads. Throws Error for a file that is missing, not JSON, or not a tactic replay.
TacticReplay load_tactic_replay(const std::string& path);

/// Common interface of replays.
struct TacticSet {
  std::vector<std::string> paths;  ///< of the replays
  TacticChoices choices;
};
/// The replay at `path`, or those in the folder at `path` and its subfolders, in the order of their names.
/// Other files are skipped, with a verbose line. A missing path gives none.
TacticSet load_tactic_set(const std::string& path);

/// Layers and algorithms of `bad` that `good` does not have for the same layer.
TacticChoices subtract_tactics(const TacticChoices& bad, const TacticChoices& good);

}  // namespace assay
