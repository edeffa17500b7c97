#include "run/merge_inputs.h"

#include <string_view>
#include <unordered_map>

#include "base/diagnostics.h"
#include "run/concat_iterations.h"
#include "run/data_source.h"

namespace assay {
namespace {

void merge(StoredTensorList& into, const StoredTensorList& from, const std::string& path) {
  std::unordered_map<std::string_view, size_t> index;
  into.reserve(into.size() + from.size());  // the index views names in it
  for (size_t i = 0; i < into.size(); ++i) index.emplace(into[i].name, i);
  for (const NamedStoredTensor& t : from) {
    const auto it = index.find(t.name);
    if (it != index.end()) {
      diag::once(diag::Severity::kWarning,
                 "Overwriting input '{}' while merging data from {}. If you intended to concatenate "
                 "iterations, consider using "
                 "`data concat` instead.",
                 t.name, path);
      into[it->second].tensor = t.tensor;
    } else {
      into.push_back(t);
      index.emplace(into.back().name, into.size() - 1);
    }
  }
}

/// `tensors_of(i)` are those of iteration i.
template <typename TensorsOf>
void merge_iterations(InputData& into, size_t count, const std::string& path, TensorsOf tensors_of) {
  if (!into.empty() && into.size() != count)
    diag::warning(
        "The provided files have different numbers of iterations.\n"
        "Note: Inputs currently contains {} iterations, but the data in {} contains {} iterations. Some "
        "iterations will contain incomplete data. ",
        into.size(), path, count);
  if (into.size() < count) into.resize(count);
  for (size_t i = 0; i < count; ++i) merge(into[i], tensors_of(i), path);
}

}  // namespace

InputData merge_inputs(std::span<const std::string> paths) {
  InputData merged;
  for (const std::string& path : paths) {
    const ResultsOrInputs data =
        is_folder(path) ? concat_iterations({&path, 1}) : load_results_or_inputs(path);
    if (const auto* inputs = std::get_if<InputData>(&data)) {
      merge_iterations(
          merged, inputs->size(), path, [&](size_t i) -> const auto& { return (*inputs)[i]; });
      continue;
    }
    for (const auto& [runner, iterations] : std::get<RunResults>(data).runners)
      merge_iterations(
          merged, iterations.size(), path, [&](size_t i) -> const auto& { return iterations[i].outputs; });
  }
  return merged;
}

}  // namespace assay
