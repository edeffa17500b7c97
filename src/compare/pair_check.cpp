#include "compare/pair_check.h"

#include <algorithm>
#include <unordered_set>

#include "base/name_pattern.h"

namespace assay {

void check_output_names(std::string_view option, const std::vector<std::string>& names,
                        const OutputSource& source0, const OutputSource& source1, CompareObserver& observer) {
  if (names.empty()) return;
  UnknownOutputs found{.option = std::string(option),
                       .unknown = {},
                       .given = names,
                       .known = source0.names(),
                       .suggestions = {}};
  std::unordered_set<std::string> seen(found.known.begin(), found.known.end());
  for (const std::string& name : source1.names())
    if (seen.insert(name).second) found.known.push_back(name);
  found.known.emplace_back();
  for (const std::string& name : names) {
    const NamePattern pattern(name);
    if (std::any_of(found.known.begin(), found.known.end(),
                    [&](const auto& k) { return pattern.matches(k); }))
      continue;
    found.unknown.push_back(name);
    if (const std::string hint = spec_hint(name, found.known); !hint.empty())
      found.suggestions.push_back(hint);
  }
  if (!found.unknown.empty()) observer.on_unknown_outputs(found);
}

PreparedPair prepare(const OutputPair& pair, bool check_shapes) {
  PreparedPair prepared{.pair = pair, .steps = {}};
  OutputPair& p = prepared.pair;
  if (p.output0.shape() != p.output1.shape() && !check_shapes)
    p.output1 = try_match_shape(p.output1, p.output0.shape().dims(), prepared.steps);
  if (p.output0.shape() != p.output1.shape())
    prepared.obstacle = Obstacle::kShapes;
  else if (!is_numeric(p))
    prepared.obstacle = Obstacle::kTypes;
  return prepared;
}

OutputResult incomparable(CompareFunction function, const PreparedPair& prepared, Threshold threshold,
                          CompareObserver& observer) {
  OutputComparison comparison{
      .function = function, .pair = prepared.pair, .result = {}, .shape_steps = prepared.steps};
  OutputResult& result = comparison.result;
  result.output = prepared.pair.name0;
  result.other = prepared.pair.name1;
  result.obstacle = prepared.obstacle;
  result.threshold = std::move(threshold);
  observer.on_output_end(comparison);
  return result;
}

}  // namespace assay
