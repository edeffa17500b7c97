// Plots of comparison results.
#pragma once

#include <string>

#include "compare/comparison.h"
#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// Draws the result of comparing one output. Called while its errors are being printed.
class ErrorPictures {
 public:
  virtual ~ErrorPictures() = default;
  virtual void draw_errors(const OutputPair& pair, const ErrorArrays& errors) = 0;
  /// `title`: `Absolute Error | y` or `Relative Error | y`.
  virtual void draw_heatmap(const std::string& title, const Numbers& errors, const Statistics& statistics,
                            bool log_scale) = 0;
};

}  // namespace assay
