// Weights with the 2:4 pattern, as plain data and as JSON.
#include "inspect/weight_sparsity.h"
#include "assay/inspect.h"
#include "base/json_writer.h"

namespace assay {

std::vector<WeightSparsity> weight_sparsity(const SparsityReport& report) {
  std::vector<WeightSparsity> list;
  for (size_t i = 0; i < report.targets.eligible.size(); ++i) {
    const SparsityTarget& t = report.targets.eligible[i];
    list.push_back(
        {.weight = t.weight->name(),
         .state = report.is_sparse[i] ? WeightSparsity::State::kSparse : WeightSparsity::State::kDense,
         .axis = t.axis});
  }
  for (const SparsityTargets::Skipped& s : report.targets.skipped)
    list.push_back({.weight = s.weight->name(),
                    .state = WeightSparsity::State::kSkipped,
                    .axis = s.axis,
                    .reason = s.reason});
  return list;
}

std::vector<WeightSparsity> weight_sparsity(const Model& model) {
  SparsityObserver silent;
  return weight_sparsity(check_sparsity(model, silent));
}

std::string sparsity_json(const std::vector<WeightSparsity>& weights) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("weights").begin_array();
  for (const WeightSparsity& w : weights) {
    constexpr const char* kStates[] = {"sparse", "dense", "skipped"};
    json.begin_object().key("name").value(w.weight).key("state").value(kStates[static_cast<size_t>(w.state)]);
    if (w.axis) json.key("axis").value(static_cast<int64_t>(*w.axis));
    if (!w.reason.empty()) json.key("reason").value(w.reason);
    json.end_object();
  }
  json.end_array().end_object();
  return text;
}

}  // namespace assay
