// Seeded random weights: fast, and the same bytes on every machine.
//
// Element i of a tensor is a function of (seed, tensor name, i) alone, so tensors can be filled in any order
// and in parallel. Only integer operations and single roundings are used, never a function of the
// mathematical library, whose last bit differs between versions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "assay/tensor.h"

namespace assay {

/// The distribution a tensor is drawn from.
struct Init {
  enum class Kind : uint8_t {
    kConstant,         ///< `mean` everywhere
    kNormal,           ///< standard deviation `spread`
    kTruncatedNormal,  ///< a normal of standard deviation `spread`, redrawn beyond two of them
    kUniform,          ///< in [mean - spread, mean + spread)
  };
  Kind kind = Kind::kConstant;
  double spread = 0;
  double mean = 0;

  static constexpr Init constant(double value) { return {Kind::kConstant, 0, value}; }
  static constexpr Init normal(double deviation, double mean = 0) { return {Kind::kNormal, deviation, mean}; }
  static constexpr Init truncated_normal(double deviation) { return {Kind::kTruncatedNormal, deviation, 0}; }
  static constexpr Init uniform(double bound, double mean = 0) { return {Kind::kUniform, bound, mean}; }
  /// Variance 2/fan: keeps the scale of activations through ReLU (He et al., 2015).
  static Init he_normal(int64_t fan);
  /// Variance 1/fan: keeps the scale through linear layers (LeCun et al., 1998).
  static Init lecun_normal(int64_t fan);
  /// Variance 2/(fan_in + fan_out) (Glorot and Bengio, 2010).
  static Init xavier_uniform(int64_t fan_in, int64_t fan_out);
};

/// A float32 tensor drawn from `init`. Normals are sums of eight uniforms: they reach 4.9 standard
/// deviations, and their excess kurtosis is -0.15.
Tensor random_weights(uint64_t seed, std::string_view name, Shape shape, const Init& init);
/// The elements of that tensor from `first` on, as many as `out` has room for.
void fill_random_weights(uint64_t seed, std::string_view name, const Init& init, int64_t first,
                         std::span<float> out);

/// A read-only float32 tensor of zeros that costs address space only.
Tensor weights_without_memory(Shape shape);

}  // namespace assay
