// Which tactics a build chose, and builds that keep some of these choices.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/builder.h"
#include "run/tactic_replay.h"

namespace assay::debug {

/// The algorithm that was chosen for a region.
struct TacticChoice {
  std::vector<std::string> nodes;  ///< by their names
  std::string algorithm;           ///< "dnnl_conv:blocked8"

  /// "dnnl_conv".
  std::string tactic() const { return algorithm.substr(0, algorithm.find(':')); }
};

/// A replay's.
std::vector<TacticChoice> choices_of(const TacticReplay& replay);
/// As a replay has them.
std::string layer_name(const std::vector<std::string>& nodes);

/// Notes what was chosen, and which regions were asked about with what.
class ChoiceRecorder final : public AlgorithmSelector {
 public:
  /// `decides`: who is asked in turn; null: any algorithm may be chosen.
  explicit ChoiceRecorder(AlgorithmSelector* decides = nullptr) : decides_(decides) {}
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                       const std::vector<Algorithm>& algorithms) override;
  void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) override;

  const TacticReplay& replay() const { return replay_; }
  /// Of the regions whose choices these are, those whose nodes nothing but a tactic of `tactics` runs, in
  /// this region or in others.
  std::set<std::string> bound_to(const std::set<std::string>& tactics) const;

 private:
  struct Asked {
    std::vector<std::string> nodes, algorithms;
  };
  AlgorithmSelector* decides_;
  std::vector<Asked> asked_;
  TacticReplay replay_;
};

/// Keeps some of a build's choices: these regions run in that way, and no others take nodes of theirs. For
/// all other nodes algorithms of the tactics `avoided` are left out, except for regions in `bound` (by
/// layer_name()).
class ChoiceKeeper final : public AlgorithmSelector {
 public:
  /// `kept`: positions in `choices`.
  ChoiceKeeper(const std::vector<TacticChoice>& choices, std::span<const size_t> kept,
               std::set<std::string> avoided = {}, std::set<std::string> bound = {});

  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>& nodes,
                                                       const std::vector<Algorithm>& algorithms) override;
  void report_algorithms(const std::vector<std::string>&, const Algorithm&) override {}

 private:
  std::map<std::string, std::string> kept_;  ///< algorithm by the layer's name
  std::set<std::string> chosen_, kept_nodes_, avoided_, bound_;
};

}  // namespace assay::debug
