#include "run/check_results.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tensor/value_tensors.h"

namespace assay {
namespace {

/// The value that a tensor represents (tensor/value_tensors.h).
const Value* value_of(const std::string& name, const Graph& g) {
  for (size_t end = name.size();; --end) {
    const bool cut = end == name.size() || name[end] == '.' || name[end] == '[';
    if (cut)
      if (const Value* v = g.find_value(name.substr(0, end)); v != nullptr) return v;
    if (end <= 1) return nullptr;
  }
}

std::string some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  return fmt::format("'{}'{}", fmt::join(first, "', '"),
                     names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

}  // namespace

std::string misfit(const std::string& runner, const IterationResult& result, int64_t iteration,
                   const Model& model, std::span<const std::string> outputs) {
  std::set<const Value*> found;
  std::vector<std::string> strange, missing;
  for (const NamedStoredTensor& t : result.outputs) {
    const Value* v = value_of(t.name, *model.graph);
    if (v != nullptr)
      found.insert(v);
    else
      strange.push_back(t.name);
  }
  for (const std::string& name : outputs)
    if (!found.contains(model.graph->find_value(name))) missing.push_back(name);
  if (!strange.empty())
    return fmt::format("the results of {} hold {} in iteration {}, which the model has not", runner,
                       some(strange), iteration);
  if (!missing.empty())
    return fmt::format("the results of {} lack the output {} in iteration {}", runner, some(missing),
                       iteration);
  return {};
}

}  // namespace assay
