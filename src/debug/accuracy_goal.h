// How far results are from exact ones, and how far they may be.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "assay/tensor.h"

namespace assay::debug {

/// Of all outputs that were added, the worst in each respect.
struct Accuracy {
  /// Signal-to-noise ratio: of the sum of the exact squares to that of the errors.
  double decibels = std::numeric_limits<double>::infinity();
  double absolute = 0;  ///< the largest error
  double relative = 0;  ///< the same in proportion to the largest exact number of its output

  /// Equal infinities and NaN for NaN are no error; any other number in place of one that is not finite, or
  /// the reverse, is an infinite error, and so is another shape. Strings and containers are left out.
  void add(const Tensor& own, const Tensor& exact);

  /// As answers and journals have them.
  std::map<std::string, double> measures() const;
  static Accuracy from(const std::map<std::string, double>& measures);
  /// "52.3 dB, at most 0.0012 off (0.4 %)".
  std::string str() const;
};

/// The accuracy that is required, by one measure.
struct AccuracyGoal {
  enum class Measure : uint8_t { kDecibels, kAbsolute, kRelative };
  Measure measure = Measure::kDecibels;
  double value = 0;  ///< the least decibels, or the most that an error may be

  /// 40dB, abs:0.001, rel:0.01. Throws Error (kInvalidArgument).
  static AccuracyGoal parse(std::string_view text);
  /// The error in proportion to what it may be, squared: errors of nodes add up so. At most 1: the goal is
  /// met.
  double excess(const Accuracy& accuracy) const;
  bool is_met(const Accuracy& accuracy) const { return excess(accuracy) <= 1; }
  /// As parse() reads it.
  std::string str() const;
};

}  // namespace assay::debug
