#include <algorithm>

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/wording.h"
#include "compare/simple.h"
#include "run/comparator.h"
#include "run/savers.h"

namespace assay {
namespace {

/// Refuses options whose metrics cannot be averaged.
void check_averaging(const RunOptions& o) {
  if (o.fail_fast) fail_expected(ErrorCode::kInvalidArgument, "{}", say(Say::kAveragesAndFailFast));
  for (const auto& f : o.functions) {
    if (f->function() == CompareFunction::kIndices || f->function() == CompareFunction::kCustom)
      fail_expected(ErrorCode::kInvalidArgument,
                    "The selected compare_func does not produce averageable metrics and cannot be used with "
                    "check_average=True.");
    const auto* simple = dynamic_cast<const SimpleComparison*>(f.get());
    if (simple == nullptr) continue;
    const PerOutput<ErrorStat>& stats = simple->options().check_error_stat;
    const bool is_elemwise = stats.find("") == nullptr ||
                             std::any_of(stats.entries().begin(), stats.entries().end(),
                                         [](const auto& e) { return e.second == ErrorStat::kElemwise; });
    if (is_elemwise) fail_expected(ErrorCode::kInvalidArgument, "{}", say(Say::kAveragesAndElemwise));
  }
}

}  // namespace

void check_options(const RunOptions& o) {
  if (o.check_average) check_averaging(o);
  if (o.model.path.empty() && !o.runners.empty())
    fail_expected(
        ErrorCode::kInvalidArgument,
        "One or more runners was specified, but no model file was provided. Make sure you've specified the "
        "model path, and also that it's not being consumed as an argument for another parameter");
  if (o.model.path.empty() && o.arbitrate)
    fail_expected(ErrorCode::kInvalidArgument, "{}", say(Say::kVerdictNeedsModel));
  require(o.sequential_runners || (o.warm_up == 0 && !o.use_subprocess), ErrorCode::kInvalidArgument,
          "warm-up runs and processes of their own need runners that run one after the other");
  require(o.source == nullptr || !o.use_subprocess, ErrorCode::kInvalidArgument,
          "data of a script cannot be fed to runners in processes of their own: {}", say(Say::kNoSubprocess));
  std::vector<std::string> loads = o.load_inputs;
  loads.insert(loads.end(), o.load_outputs.begin(), o.load_outputs.end());
  try {
    check_save_paths(loads, {o.save_inputs, o.save_outputs, o.save_input_blobs});
  } catch (const Error& e) {
    throw ExpectedError(e);
  }
  if (o.runners.empty()) diag::warning("No runners have been selected. Inference will not be run!");
}

}  // namespace assay
