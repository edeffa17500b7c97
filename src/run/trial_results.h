// Results of two models on the same data, the original and the changed one, and how they compare.
#pragma once

#include <cstdint>
#include <span>

#include "assay/tensor.h"

namespace assay {

/// One trial's results, of the original and the changed model: exact, and as the declared types round.
struct TrialResults {
  TensorList exact, stored, changed_exact, changed_stored;
};

/// Whether both gave the same bits.
bool identical(const TensorList& a, const TensorList& b);

/// The tensor that has the name, shape and type; null: there is none.
const Tensor* find_like(const TensorList& list, const NamedTensor& like);

/// Every element of every output is the original's or next to it in its type.
bool all_within_one_step(const TrialResults& r);

/// An element of an output: of the original and the changed model, exact and as the declared types round.
struct ElementResults {
  double exact, changed;
  double stored, changed_stored;
};

enum class ElementRelation : uint8_t {
  kSame,           ///< no finite numbers, and the same
  kOpen,           ///< the original is not determined: NaN, or beyond its type's range on the way
  kDiffers,        ///< as no rounding explains
  kDiffersStored,  ///< the same for the declared types: out of their range where the original is within
  kFinite,         ///< numbers, of which rounding may explain the difference
};
ElementRelation relation_of(const ElementResults& e);

/// The largest magnitude of the finite numbers; 0 where there is none.
double largest_finite(std::span<const double> numbers);

/// How far numbers are apart from those of the original.
struct Distances {
  int64_t far = 0;        ///< numbers that are further apart than is tolerated
  int64_t farthest = -1;  ///< the place of those that are furthest apart

  explicit Distances(double tolerated) : tolerated_(tolerated) {}
  void add(int64_t at, double apart);

 private:
  double tolerated_, worst_ = 0;
};

}  // namespace assay
