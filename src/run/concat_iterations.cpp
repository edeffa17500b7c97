#include "run/concat_iterations.h"

#include <iterator>
#include <optional>

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/python_repr.h"
#include "run/data_source.h"

namespace assay {
namespace {

/// Warns about iterations whose tensors have other names than those of the first.
class NameCheck {
 public:
  void look(const StoredTensorList& tensors, size_t iteration, const std::string& path) {
    std::vector<std::string> names;
    for (const NamedStoredTensor& t : tensors) names.push_back(t.name);
    if (!first_) {
      first_ = std::move(names);
    } else if (names != *first_) {
      diag::warning(
          "Iteration {} from {} contains different tensor names than earlier iterations.\nNote: Expected "
          "names: {}, but "
          "got: {}.",
          iteration, path, python_list_repr(*first_), python_list_repr(names));
    }
  }

 private:
  std::optional<std::vector<std::string>> first_;
};

[[noreturn]] void refuse_mixture() {
  fail_expected(ErrorCode::kInvalidArgument,
                "Cannot concatenate input data with output data. Please provide files of the same type.");
}

/// `onnxrt-runner-N0` of `onnxrt-runner-N0-11/22/26-08:40:48`; the name itself if it does not end in a time.
std::string without_time(const std::string& name) {
  constexpr std::string_view kForm = "-00/00/00-00:00:00";
  if (name.size() <= kForm.size()) return name;
  const std::string_view end = std::string_view(name).substr(name.size() - kForm.size());
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = end[i] >= '0' && end[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : end[i] != kForm[i]) return name;
  }
  return name.substr(0, name.size() - kForm.size());
}

/// The runner that a file's runner continues; null when there is none.
std::vector<IterationResult>* find_runner(RunResults& all, const RunResults& part, size_t index) {
  const std::string& name = part.runners[index].first;
  for (auto& [known, iterations] : all.runners)
    if (known == name) return &iterations;
  if (all.runners.size() != part.runners.size()) return nullptr;
  auto& [known, iterations] = all.runners[index];
  return without_time(known) == without_time(name) ? &iterations : nullptr;
}

void append(RunResults& all, RunResults part, NameCheck& check, const std::string& path) {
  // New names of this file do not match an earlier one.
  std::vector<std::vector<IterationResult>*> places;
  for (size_t i = 0; i < part.runners.size(); ++i) places.push_back(find_runner(all, part, i));
  std::vector<std::pair<std::string, std::vector<IterationResult>>> added;
  for (size_t i = 0; i < part.runners.size(); ++i) {
    auto& [name, iterations] = part.runners[i];
    for (size_t k = 0; k < iterations.size(); ++k) check.look(iterations[k].outputs, k, path);
    if (places[i] == nullptr)
      added.emplace_back(name, std::move(iterations));
    else
      places[i]->insert(places[i]->end(), std::make_move_iterator(iterations.begin()),
                        std::make_move_iterator(iterations.end()));
  }
  std::move(added.begin(), added.end(), std::back_inserter(all.runners));
}

}  // namespace

ResultsOrInputs concat_iterations(std::span<const std::string> paths) {
  std::optional<ResultsOrInputs> all;
  NameCheck check;
  for (const std::string& path : paths)
    for (const std::string& file : iteration_files(path)) {
      ResultsOrInputs part = load_results_or_inputs(file);
      if (all && all->index() != part.index()) refuse_mixture();
      if (!all) all = part.index() == 0 ? ResultsOrInputs(RunResults{}) : ResultsOrInputs(InputData{});
      if (auto* results = std::get_if<RunResults>(&part)) {
        append(std::get<RunResults>(*all), std::move(*results), check, file);
        continue;
      }
      auto& inputs = std::get<InputData>(part);
      for (size_t k = 0; k < inputs.size(); ++k) check.look(inputs[k], k, file);
      auto& to = std::get<InputData>(*all);
      std::move(inputs.begin(), inputs.end(), std::back_inserter(to));
    }
  require(all.has_value(), ErrorCode::kInvalidArgument, "no file of iterations was found in {}",
          python_list_repr(std::vector<std::string>(paths.begin(), paths.end())));
  return std::move(*all);
}

}  // namespace assay
