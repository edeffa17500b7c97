// Where two runs of a network begin to differ: the first tensors that do although what they are made of
// agrees.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "debug/layer_run.h"
#include "debug/tensor_difference.h"
#include "debug/tensor_match.h"

namespace assay {
class JsonWriter;
}

namespace assay::debug {

/// A tensor that differs although all that it is made of agrees.
struct Divergence {
  std::string first_tensor, second_tensor;
  MatchedBy by = MatchedBy::kName;
  TensorDifference difference;  ///< in the first iteration that shows it
  int64_t first_iteration = 0, iterations = 0;
  /// The nodes, by their labels, that make it of tensors that were compared: one each where all were.
  std::vector<std::string> first_nodes, second_nodes;
  /// How near to the tolerance the tensors that they take come, 1 being the tolerance.
  double excess_of_operands = 0;
  /// Where it is one node: how far each result is from what the node gives on its own operands in float64, as
  /// a share of the largest number. Nothing where that cannot be evaluated, or tensors are not known.
  std::optional<double> first_own_error, second_own_error;

  size_t followers = 0;  ///< tensors behind it that differ
  size_t recovered = 0;  ///< tensors right behind such that agree again
  struct Reached {
    std::string output;
    TensorDifference difference;
  };
  std::vector<Reached> outputs;
};

/// Which result is wrong by what float64 gives on its own operands: `first`, `second`, `both`; `neither`
/// where each is right for its own node, so that the nodes differ, or what they hold. Empty where that is not
/// known.
const char* erring_side(const Divergence& divergence);

struct DivergenceReport {
  std::string first_name, second_name;  ///< of the two sides, as people read them
  int64_t iterations = 0;
  size_t compared = 0, differing = 0;        ///< tensors, in the iteration that shows most
  size_t first_alone = 0, second_alone = 0;  ///< tensors that the other one does not have
  std::map<std::string, size_t> matched_by;  ///< how many of those that have another name there
  /// In the order of the first model; those that reach an output come first.
  std::vector<Divergence> divergences;
};

struct DivergenceOptions {
  LayerTolerance tolerance = {};
  /// Tensors without match, and such that differ from what was taken for them, are looked for by their
  /// values.
  bool matches_values = true;
  std::vector<std::string> outputs = {};  ///< of the first model
};

/// Looks at one iteration after the other.
class DivergenceSearch {
 public:
  DivergenceSearch(std::shared_ptr<const Model> first, std::shared_ptr<const Model> second,
                   DivergenceOptions options);

  void look(const LayerValues& first, const LayerValues& second);
  const DivergenceReport& report() const { return report_; }
  /// At the end: what was found.
  DivergenceReport take_report();

 private:
  using Mask = uint64_t;
  struct State {
    bool is_compared = false, differs = false;
    double excess = 0;
    Mask from = 0;
  };
  using States = std::unordered_map<const Value*, State>;

  void match_values(const LayerValues& first, const LayerValues& second);
  bool is_open(const TensorMatch* match, const LayerValues& first, const LayerValues& second) const;
  void look_at(const Node& n, const LayerValues& first, const LayerValues& second, States& states);
  State compare(const Value& v, const LayerValues& first, const LayerValues& second, Mask before,
                States& states);
  Mask found(const TensorMatch& match, const TensorDifference& difference, const LayerValues& first,
             const LayerValues& second, const States& states);
  void follow(const Value& v, const TensorDifference& difference, Mask from);
  void note_output(const Value& v, const TensorDifference& difference, Divergence& divergence);
  template <typename Body>
  void for_each_divergence(Mask mask, Body&& body);
  void count_matches(const LayerValues& first, const LayerValues& second);

  std::shared_ptr<const Model> first_, second_;
  DivergenceOptions options_;
  TensorMatches matches_;
  DivergenceReport report_;
  std::unordered_map<std::string, size_t> index_;
  size_t compared_ = 0, differing_ = 0;
};

std::string divergence_json(const DivergenceReport& report);
void write_divergences(JsonWriter& json, const DivergenceReport& report);
void write_difference(JsonWriter& json, const TensorDifference& difference);

}  // namespace assay::debug
