// Where `run --trt`, `convert` and `bench` have the scales for 8-bit integers from: a cache, or data.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "assay/int8_calibrator.h"
#include "run/data_source.h"

namespace assay {

struct CalibrationOptions {
  std::string cache;  ///< path, read if the file is there and not empty, else written; empty: none
  CalibrationAlgorithm algorithm = CalibrationAlgorithm::kEntropy2;
  double quantile = 0.9999;  ///< of kLegacy
  /// Makes the data, from the first set on. Empty: there are none, and a cache must have the scales.
  std::function<std::shared_ptr<DataSource>()> data;
  bool is_random = false;  ///< whether they are drawn, which a warning tells
};

/// A calibrator as the options say, with Polygraphy's lines in the log. Its next_batch() brings data into the
/// form of the inputs as those of a run (coerce_inputs.h).
std::shared_ptr<Int8Calibrator> make_calibrator(CalibrationOptions options);

/// The scales of a cache's text, of any algorithm; there are no data. `name` is what messages call it. Throws
/// Error for what is no cache.
std::shared_ptr<Int8Calibrator> given_scales(std::string text, std::string name);
/// The same of a file. Throws Error for one that is missing, too.
std::shared_ptr<Int8Calibrator> cached_scales(const std::string& path);

}  // namespace assay
