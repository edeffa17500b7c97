// Which token follows, by its logits.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/generate.h"
#include "assay/tensor.h"
#include "tensor/random.h"

namespace assay::generate {

/// Throws Error (kInvalidArgument) for a setting that is out of its range.
void check_sampling(const Sampling& sampling);

/// Draws one number for each token, so that samplers of one seed draw the same as long as they see the same.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), random_(sampling.seed) {}

  /// `logits`: [vocabulary], of any floating-point type. Of equal ones the first is the most likely. Throws
  /// Error (kInvalidModel) where they hold NaN, or nothing but minus infinity.
  int64_t next(const Tensor& logits);

 private:
  int64_t draw(const std::vector<double>& logits);

  Sampling sampling_;
  RandomState random_;
};

/// The most likely tokens with their logits, the most likely first.
std::vector<RankedToken> most_likely(const Tensor& logits, size_t count);

}  // namespace assay::generate
