// Names, types and shapes of tensors as Polygraphy's log prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/dtype.h"
#include "assay/type.h"

namespace assay {

/// Collects lines of tensor metadata: {a [dtype=float32, shape=(1, 3)],\n b [dtype=int64, shape=()]}.
class MetadataText {
 public:
  /// Unknown parts (a type of kUndefined, no dims) are omitted.
  void add(std::string_view name, DType dtype, const std::optional<Dims>& dims);
  void add(std::string_view name, DType dtype, const Shape& shape) { add(name, dtype, to_dims(shape)); }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

/// A shape that may have open extents, as messages about inputs print it:
/// BoundedShape([1, 'batch', None], min=None, max=None).
std::string bounded_shape_text(const Dims& dims);

}  // namespace assay
