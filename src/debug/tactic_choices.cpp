#include "debug/tactic_choices.h"

#include <algorithm>

namespace assay::debug {
namespace {

constexpr std::string_view kBetween = " + ";

std::string tactic_of(const std::string& algorithm) { return algorithm.substr(0, algorithm.find(':')); }

}  // namespace

std::string layer_name(const std::vector<std::string>& nodes) {
  std::string name;
  for (const std::string& n : nodes) name += (name.empty() ? std::string() : std::string(kBetween)) + n;
  return name;
}

std::vector<TacticChoice> choices_of(const TacticReplay& replay) {
  std::vector<TacticChoice> choices;
  for (const auto& [layer, algorithm] : replay) {
    TacticChoice& choice = choices.emplace_back(TacticChoice{.nodes = {}, .algorithm = algorithm.name});
    for (size_t at = 0; at <= layer.size();) {
      const size_t end = std::min(layer.find(kBetween, at), layer.size());
      choice.nodes.push_back(layer.substr(at, end - at));
      at = end + kBetween.size();
    }
  }
  return choices;
}

std::optional<std::vector<size_t>> ChoiceRecorder::select_algorithms(
    const std::vector<std::string>& nodes, const std::vector<Algorithm>& algorithms) {
  Asked& asked = asked_.emplace_back(Asked{.nodes = nodes, .algorithms = {}});
  for (const Algorithm& a : algorithms) asked.algorithms.push_back(a.name);
  return decides_ != nullptr ? decides_->select_algorithms(nodes, algorithms) : std::nullopt;
}

void ChoiceRecorder::report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) {
  replay_.emplace_back(layer_name(nodes), tactic_algorithm(chosen));
}

std::set<std::string> ChoiceRecorder::bound_to(const std::set<std::string>& tactics) const {
  const auto is_free = [&](const Asked& a) {
    return std::any_of(a.algorithms.begin(), a.algorithms.end(),
                       [&](const std::string& name) { return !tactics.contains(tactic_of(name)); });
  };
  std::set<std::string> free_nodes, bound;
  for (const Asked& a : asked_)
    if (is_free(a)) free_nodes.insert(a.nodes.begin(), a.nodes.end());
  for (const Asked& a : asked_)
    if (!is_free(a) && std::any_of(a.nodes.begin(), a.nodes.end(),
                                   [&](const std::string& n) { return !free_nodes.contains(n); }))
      bound.insert(layer_name(a.nodes));
  return bound;
}

ChoiceKeeper::ChoiceKeeper(const std::vector<TacticChoice>& choices, std::span<const size_t> kept,
                           std::set<std::string> avoided, std::set<std::string> bound)
    : avoided_(std::move(avoided)), bound_(std::move(bound)) {
  for (const TacticChoice& choice : choices) chosen_.insert(layer_name(choice.nodes));
  for (const size_t i : kept) {
    kept_.insert_or_assign(layer_name(choices[i].nodes), choices[i].algorithm);
    kept_nodes_.insert(choices[i].nodes.begin(), choices[i].nodes.end());
  }
}

std::optional<std::vector<size_t>> ChoiceKeeper::select_algorithms(const std::vector<std::string>& nodes,
                                                                   const std::vector<Algorithm>& algorithms) {
  const std::string layer = layer_name(nodes);
  const auto kept = kept_.find(layer);
  std::vector<size_t> allowed;
  if (kept != kept_.end()) {
    for (size_t i = 0; i < algorithms.size(); ++i)
      if (algorithms[i].name == kept->second) return std::vector<size_t>{i};
    return std::nullopt;  // another plan's region of these nodes, such as one of a body
  }
  // Nodes that passes made of one may go by the same names in several regions that were chosen.
  if (!chosen_.contains(layer) &&
      std::any_of(nodes.begin(), nodes.end(), [&](const std::string& n) { return kept_nodes_.contains(n); }))
    return allowed;
  if (bound_.contains(layer)) return std::nullopt;
  for (size_t i = 0; i < algorithms.size(); ++i)
    if (!avoided_.contains(tactic_of(algorithms[i].name))) allowed.push_back(i);
  return allowed;
}

}  // namespace assay::debug
