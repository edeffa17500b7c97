// Random rounding errors for Monte Carlo arithmetic (docs/internals/numerics.md).
#pragma once

#include <cstdint>

namespace assay {

/// A key for a part of a computation: keys of different parts are unrelated. SplitMix64 (G. L. Steele, D.
/// Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
inline uint64_t mix_key(uint64_t key, uint64_t part) {
  uint64_t z = key + (part + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A random error in units of its size, from [1/2, 1) with either sign: no error is near zero, so that a few
/// samples show its size. Depends on key and position only.
inline double noise(uint64_t key, uint64_t position) {
  const uint64_t z = mix_key(key, position);
  const double magnitude = 0.5 + static_cast<double>(static_cast<int64_t>(z >> 11)) * 0x1p-54;
  return (z & 1) != 0 ? magnitude : -magnitude;
}

/// The same for a computation that is repeated, with a key of this repetition and one of all. A part half as
/// large is the same every time: when a recurrence converges its rounding errors repeat,
/// and add up where independent ones would not.
inline double recurring_noise(uint64_t key_of_time, uint64_t key, uint64_t position) {
  return noise(key_of_time, position) + 0.5 * noise(key, position);
}

}  // namespace assay
