#include "run/check_results.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tensor/value_tensors.h"

namespace assay {
namespace {

/// The value that a tensor stands for (tensor/value_tensors.h).
const Value* value_of(const std::string& name, const Graph& g) {
  for (size_t end = name.size();; --end) {
    const bool cut = end == name.size() || name[end] == '.' || name[end] == '[';
    if (cut)
      if (const Value* v = g.find_value(name.substr(0, end)); v != nullptr) return v;
    if (end <= 1) return nullptr;
  }
}

[[noreturn]] void refuse(const std::string& runner, const std::string& what) {
  Error e(ErrorCode::kInvalidArgument, fmt::format("the results of {} {}", runner, what));
  e.set_remedy("Give the model and the inputs that they were made with; --partial judges what there is.");
  throw e;
}

std::string some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  return fmt::format("'{}'{}", fmt::join(first, "', '"),
                     names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

}  // namespace

void check_results(const std::string& runner, const std::vector<IterationResult>& iterations,
                   const Model& model, std::span<const std::string> outputs, size_t inputs) {
  if (iterations.empty()) refuse(runner, "hold no iteration");
  if (iterations.size() != inputs)
    refuse(runner,
           fmt::format("hold {} iteration(s), but there are inputs for {}", iterations.size(), inputs));
  for (size_t i = 0; i < iterations.size(); ++i) {
    std::set<const Value*> found;
    std::vector<std::string> strange, missing;
    for (const NamedStoredTensor& t : iterations[i].outputs) {
      const Value* v = value_of(t.name, *model.graph);
      if (v != nullptr)
        found.insert(v);
      else
        strange.push_back(t.name);
    }
    for (const std::string& name : outputs)
      if (!found.contains(model.graph->find_value(name))) missing.push_back(name);
    if (!strange.empty())
      refuse(runner, fmt::format("hold {} in iteration {}, which the model has not", some(strange), i));
    if (!missing.empty()) refuse(runner, fmt::format("lack the output {} in iteration {}", some(missing), i));
  }
}

}  // namespace assay
