// Runs test cases in the layout of ONNX's backend tests (conformance_data.h) on a backend.
#pragma once

#include <string>

#include "assay/backend.h"
#include "run/conformance_data.h"

namespace assay {

struct ConformanceResult {
  enum class Verdict : uint8_t { kPassed, kFailed };
  std::string name;
  Verdict verdict = Verdict::kPassed;
  std::string reason;  ///< why it failed
};

/// Empty when a value is as expected: of the same type and shape, integers, booleans and strings equal,
/// floats within the tolerance, bfloat16 within two units in the last place as in ONNX's own runner.
/// Otherwise the first difference.
std::string conformance_difference(const Tensor& actual, const Tensor& expected,
                                   const ConformanceTolerance& tolerance);

/// Runs one case folder on a backend: every output of every data set must be as expected, by
/// conformance_difference(). Never throws for failures of the case or the backend.
ConformanceResult run_conformance_case(const std::string& folder, const Backend& backend,
                                       const SessionOptions& session);

}  // namespace assay
