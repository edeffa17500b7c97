// The source of scales for 8-bit integers in `run --trt`, `convert` and `bench`: a cache, or data.
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
  /// Creates the data source, from the first set on. Empty: none, so a cache must have the scales.
  std::function<std::shared_ptr<DataSource>()> data;
  bool is_random = false;  ///< random data, which a warning reports
};

/// A calibrator by the options, with log lines in Polygraphy's format. Its next_batch() converts data to the
/// inputs' form as in a run (coerce_inputs.h).
std::shared_ptr<Int8Calibrator> make_calibrator(CalibrationOptions options);

/// A calibrator with the scales of a cache's text, of any algorithm, without data. `name` identifies it in
/// messages. Throws Error for an invalid cache.
std::shared_ptr<Int8Calibrator> given_scales(std::string text, std::string name);
/// The same of a file. Throws Error for one that is missing, too.
std::shared_ptr<Int8Calibrator> cached_scales(const std::string& path);

}  // namespace assay
