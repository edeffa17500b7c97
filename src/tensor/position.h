// Where an element of a tensor stands.
#pragma once

#include <cstdint>

#include "assay/shape.h"

namespace assay {

/// The index in each axis of the element at a row-major position.
inline Shape index_at(const Shape& shape, int64_t position) {
  Shape index = shape;
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

}  // namespace assay
