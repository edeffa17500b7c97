// Calibration: finds the dynamic range of each tensor of a network for 8-bit quantization.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

/// The algorithm that chooses the largest representable magnitude; larger ones are clipped to it.
enum class CalibrationAlgorithm : uint8_t {
  kLegacy,            ///< a percentile: a quantile of the magnitudes (Calibrator::quantile())
  kEntropy,           ///< as kEntropy2; TensorRT has two, which differ in what it fuses before it calibrates
  kEntropy2,          ///< minimizes the information loss of the distribution of magnitudes
  kMinMax,            ///< the largest magnitude that occurred: nothing is clipped
  kMeanSquaredError,  ///< minimizes the mean square of the rounding and clipping errors; not in TensorRT
};

/// "EntropyCalibration2": the name in the first line of a cache.
std::string_view algorithm_name(CalibrationAlgorithm algorithm);

/// Scales by tensor, in the text that TensorRT's calibrators read and write:
///
///   TRT-8601-EntropyCalibration2
///   data: 3c010a14
///
/// A scale is the real value of one quantization
/// step, as the bits of a float32 in hexadecimal.
struct CalibrationTable {
  /// The version in the first line, TensorRT 8.6.1: the text can be read as its cache.
  static constexpr int64_t kVersion = 8601;

  int64_t version = kVersion;
  CalibrationAlgorithm algorithm = CalibrationAlgorithm::kEntropy2;
  /// Scales, finite; 0: the tensor was observed and stays in float32, because its values define no range (all
  /// of them 0, or some of them infinite or NaN).
  std::map<std::string, float> scales;

  /// Throws Error (kInvalidArgument) with `name` and the number of an invalid line.
  static CalibrationTable parse(std::string_view text, const std::string& name);
  /// Sorted by name, the same text for the same content. Tensors whose names hold line breaks are left out.
  std::string str() const;
};

/// Supplies a builder with calibration data, as TensorRT's IInt8Calibrator does.
class Int8Calibrator {
 public:
  virtual ~Int8Calibrator() = default;
  virtual CalibrationAlgorithm algorithm() const { return CalibrationAlgorithm::kEntropy2; }
  /// For kLegacy: the part of the magnitudes that is not clipped, above 0 and up to 1.
  virtual double quantile() const { return 0.9999; }
  /// The next set of inputs, by name; nothing when there are no more. `inputs` are those of the network, with
  /// the best shapes of the calibration profile where extents are open; other shapes within the profile may
  /// come. Throws Error.
  virtual std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) = 0;
  /// The text of a cache, which replaces calibration runs. Nothing: there is none. Throws Error.
  virtual std::optional<std::string> read_cache() { return std::nullopt; }
  /// Receives the text of the computed scales. Throws Error.
  virtual void write_cache(const std::string& text) { (void)text; }
  /// The name of the cache in messages.
  virtual std::string cache_name() const { return "the calibration cache"; }
};

}  // namespace assay
