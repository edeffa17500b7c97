// NumPy's legacy generator, numpy.random.RandomState: the same seed gives the same numbers, bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "assay/tensor.h"

namespace assay {

/// MT19937 with RandomState's distributions. Every member that returns a tensor draws its elements in
/// row-major order.
class RandomState {
 public:
  /// RandomState(seed).
  explicit RandomState(uint32_t seed);

  /// The next 32 bits.
  uint32_t next();
  /// Uniform in [0, 1), of 53 bits.
  double next_double();
  /// Standard normal (the polar method, which makes two at a time; the second waits for the next call).
  double next_normal();

  /// random_sample(shape): float64, uniform in [0, 1).
  Tensor doubles(const Shape& shape);
  /// uniform(low, high, shape): float64. Throws Error unless high - low is finite.
  Tensor uniform(double low, double high, const Shape& shape);
  /// standard_normal(shape): float64.
  Tensor standard_normal(const Shape& shape);
  /// normal(mean, deviation, shape): float64. Throws Error for a negative deviation.
  Tensor normal(double mean, double deviation, const Shape& shape);
  /// randint(low, high + 1, shape, dtype): uniform in [low, high], both included. `dtype` is an integer type
  /// of 8 to 64 bits or bool; throws Error for another, for low > high and for bounds outside the type.
  Tensor integers(DType dtype, const Shape& shape, int64_t low, int64_t high);
  /// The same for uint64, whose bounds may exceed int64.
  Tensor integers_u64(const Shape& shape, uint64_t low, uint64_t high);

 private:
  static constexpr size_t kWords = 624;

  void refill();
  void fill_doubles(std::span<double> out);

  std::array<uint32_t, kWords> state_;
  std::array<uint32_t, kWords> drawn_{};  ///< the outputs of the state, from position_ on not yet used
  size_t position_ = kWords;
  std::optional<double> waiting_normal_;
};

}  // namespace assay
