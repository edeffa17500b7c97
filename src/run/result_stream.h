// Results of a run, iteration by iteration.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/results.h"

namespace assay {

/// One result of each runner of a run, iteration by iteration.
class ResultStream {
 public:
  virtual ~ResultStream() = default;
  /// Nothing when there are no more. Throws Error.
  virtual std::optional<std::vector<IterationResult>> next() = 0;
};

/// Saved results, of a file or of a folder with a file per iteration; each file is read on demand, which is
/// logged. Throws ExpectedError when an iteration has other runners than the first.
std::unique_ptr<ResultStream> saved_results(const std::string& path);
/// Results of one runner that are available.
std::unique_ptr<ResultStream> stored_results(std::vector<IterationResult> iterations);

}  // namespace assay
