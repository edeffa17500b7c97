#include "compare/validate.h"

#include <cmath>

#include "base/log.h"
#include "base/python_repr.h"
#include "compare/report.h"
#include "tensor/convert.h"
#include "tensor/print.h"

namespace assay {
namespace {

using log::Severity;

/// Elements that `wrong` applies to, as a bool tensor.
template <typename Wrong>
Tensor mask_of(const Tensor& output, Wrong wrong) {
  const Tensor values = to_float64(output);
  Tensor mask = Tensor::allocate(DType::kBool, output.shape());
  bool* out = mask.mutable_data<bool>();
  for (const double x : values.span<double>()) *out++ = wrong(x);
  return mask;
}

bool is_nan(double x) { return std::isnan(x); }
bool is_not_finite(double x) { return !std::isfinite(x); }

void report_nan(const Tensor& output) {
  log::error("NaN Detected | One or more NaNs were encountered in this output");
  log::once(Severity::kInfo,
            "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of NaNs");
  if (log::enabled(Severity::kExtraVerbose))
    log::extra_verbose("Note: NaNs at:\n{}", array_str(mask_of(output, is_nan)));
}

void report_inf(const Tensor& output) {
  log::error("Inf Detected | One or more non-finite values were encountered in this output");
  log::once(Severity::kInfo,
            "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite values");
  if (!log::enabled(Severity::kExtraVerbose)) return;
  log::extra_verbose("Note: non-finite values at:\n{}", array_str(mask_of(output, is_not_finite)));
  const Tensor values = to_float64(output);
  std::vector<double> wrong;
  for (const double x : values.span<double>())
    if (is_not_finite(x)) wrong.push_back(x);
  log::extra_verbose("Note: non-finite values:\n{}", array_str(Tensor::vector(wrong)));
}

const char* python_bool(bool value) { return value ? "True" : "False"; }

bool validate_output(const std::string& runner, const std::string& name, const Tensor& output,
                     const ValidateOptions& options) {
  log::start("{} | Validating output: {} (check_inf={}, check_nan={})", name_column(runner), name,
             python_bool(options.check_inf), python_bool(options.check_nan));
  const log::Indent indent;
  bool valid = true;
  if (output.dtype() != DType::kString && !is_complex(output.dtype())) {
    const TensorNumbers numbers(output);
    const Statistics statistics = assay::statistics(numbers);
    log_array({.numbers = numbers,
               .statistics = statistics,
               .values = [&] { return output; },
               .is_bool = output.dtype() == DType::kBool},
              false);
    if (options.check_nan && statistics.has_nan()) {
      report_nan(output);
      valid = false;
    }
    if (options.check_inf && !statistics.all_finite()) {
      report_inf(output);
      valid = false;
    }
  }
  if (valid) {
    log::finish("PASSED | Output: {} is valid", name);
  } else {
    log::error("FAILED | Errors detected in output: {}", name);
  }
  return valid;
}

}  // namespace

bool validate_outputs(std::span<const RunnerOutputs> results, const ValidateOptions& options) {
  std::vector<std::string> runners;
  for (const RunnerOutputs& runner : results) runners.push_back(runner.runner_name);
  log::start("Output Validation | Runners: {}", python_list_repr(runners));
  const log::Indent indent;
  bool valid = true;
  for (const RunnerOutputs& runner : results)
    for (const auto& iteration : runner.iterations)
      for (size_t i = 0; i < iteration->names().size(); ++i) {
        valid &= validate_output(runner.runner_name, iteration->names()[i], iteration->load(i), options);
        if (options.fail_fast && !valid) return false;
      }
  if (valid) {
    log::finish("PASSED | Output Validation");
  } else {
    log::error("FAILED | Output Validation");
  }
  return valid;
}

}  // namespace assay
