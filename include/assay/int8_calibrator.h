// Calibration: how far the numbers of each tensor of a network reach, so that 8 bits can hold them.
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

/// How the largest magnitude that 8 bits shall show is chosen; what lies beyond is clipped to it.
enum class CalibrationAlgorithm : uint8_t {
  kLegacy,    ///< a quantile of the magnitudes (Calibrator::quantile())
  kEntropy,   ///< as kEntropy2; TensorRT has two, which differ in what it fuses before it calibrates
  kEntropy2,  ///< the one by which the distribution of the magnitudes loses least information
  kMinMax,    ///< the largest magnitude that occurred: nothing is clipped
};

/// "EntropyCalibration2": as in the first line of a cache.
std::string_view algorithm_name(CalibrationAlgorithm algorithm);

/// Scales by tensor, in the text that TensorRT's calibrators read and write:
///
///   TRT-8601-EntropyCalibration2
///   data: 3c010a14
///
/// A scale is the real number that one step of the 8 bits stands for, as the bits of a float32 in
/// hexadecimal.
struct CalibrationTable {
  /// What the first line claims to come from: TensorRT 8.6.1, as whose cache the text can be read.
  static constexpr int64_t kVersion = 8601;

  int64_t version = kVersion;
  CalibrationAlgorithm algorithm = CalibrationAlgorithm::kEntropy2;
  /// Steps, finite; 0: the tensor was looked at and stays in float32, because its numbers give no range (all
  /// of them 0, or some of them infinite or NaN).
  std::map<std::string, float> scales;

  /// Throws Error (kInvalidArgument) naming `name` and the line of what is no such text.
  static CalibrationTable parse(std::string_view text, const std::string& name);
  /// Sorted by name, the same text for the same content. Tensors whose names hold line breaks are left out.
  std::string str() const;
};

/// Gives a builder what it needs to calibrate; as TensorRT's IInt8Calibrator.
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
  /// The text of a cache; with one nothing is run. Nothing: there is none. Throws Error.
  virtual std::optional<std::string> read_cache() { return std::nullopt; }
  /// Gets the text of the scales that were found. Throws Error.
  virtual void write_cache(const std::string& text) { (void)text; }
  /// What messages call the cache.
  virtual std::string cache_name() const { return "the calibration cache"; }
};

}  // namespace assay
