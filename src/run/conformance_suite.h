// Many conformance cases on several targets, each in a child process, so that a crash fails one case only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend_set.h"
#include "run/conformance.h"

namespace assay {

/// A folder in the layout of ONNX's backend tests, found below a root.
struct ConformanceCase {
  std::string name;  ///< its path below the root: node/test_abs
  std::string folder;
};

/// One target, which judges cases.
struct ConformanceTarget {
  std::string name;
  std::string_view summary;
  std::function<ConformanceResult(const ConformanceCase&)> run;
  bool is_default = false;  ///< judged unless others are named
};

/// Inference, and every backend with its variants: engine, engine-unoptimized, onnxrt, ... They refer to the
/// backends.
std::vector<ConformanceTarget> conformance_targets(const BackendSet& backends);

/// The cases below a root, sorted by name. Throws Error (kNotFound) when there is none.
std::vector<ConformanceCase> find_conformance_cases(const std::string& root);

/// The opsets and operators of a case.
struct ConformanceUse {
  std::vector<std::string> opsets;  ///< `ai.onnx 13`: those that nodes of the model belong to
  std::vector<std::string>
      operators;  ///< `Abs`, `ai.onnx.ml.Scaler`: each once, subgraphs and functions included
};
ConformanceUse conformance_use(const Model& model);

/// The outcome of one case on one target.
struct ConformanceOutcome {
  const ConformanceCase* test = nullptr;
  const ConformanceTarget* target = nullptr;
  ConformanceResult result;
  ConformanceUse use;  ///< empty when the model could not be read
};

struct ConformanceSuiteOptions {
  int workers = 1;
  int threads = 1;               ///< of each worker
  double timeout_seconds = 120;  ///< for one case on one target
};

/// Judges every case on every target; outcomes are ordered by case, then by target. The caller must be
/// single-threaded. A case during which the process dies has failed.
std::vector<ConformanceOutcome> run_conformance_suite(std::span<const ConformanceCase> cases,
                                                      std::span<const ConformanceTarget* const> targets,
                                                      const ConformanceSuiteOptions& options);

}  // namespace assay
