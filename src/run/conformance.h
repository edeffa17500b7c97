// Runs test cases in the layout of ONNX's backend tests: a folder with model.onnx and
// test_data_set_N/{input,output}_M.pb.
#pragma once

#include <string>
#include <vector>

#include "assay/backend.h"

namespace assay {

struct ConformanceOptions {
  double rtol = 1e-3;  ///< |actual - expected| <= atol + rtol * |expected|, as ONNX's own runner checks
  double atol = 1e-7;
};

struct ConformanceResult {
  enum class Verdict : uint8_t { kPassed, kFailed, kSkipped };
  std::string name;
  Verdict verdict = Verdict::kPassed;
  std::string reason;  ///< why it failed or was skipped
};

/// Runs one case folder on a backend. Never throws for what the case or the backend do wrong.
ConformanceResult run_conformance_case(const std::string& folder, const Backend& backend,
                                       const SessionOptions& session, const ConformanceOptions& options = {});

/// The case folders below `root`, sorted; `root` itself when it is one.
std::vector<std::string> conformance_cases(const std::string& root);

}  // namespace assay
