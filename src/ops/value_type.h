// Types of values that may be containers: parts, and what two of them have in common.
#pragma once

#include "assay/type.h"

namespace assay {

Type sequence_of(Type element);
Type optional_of(Type element);
/// The element type of a sequence or optional, the value type of a map; unknown for everything else.
Type element_of(const Type& type);
/// The element type of a tensor, or of the tensors in a sequence, optional or map (its values); kUndefined
/// when it is not known.
DType leaf_dtype(const Type& type);

/// The type known of a value that is one of two: equal parts stay, so nothing remains of a tensor and a
/// container. Throws Error (kInvalidModel) when the element types of two tensors differ, in containers too.
Type common_type(const Type& a, const Type& b);
/// The type without extents, those of tensors in a container included: the type that a loop knows of a value
/// that may change from one iteration to the next.
Type without_dims(Type type);

}  // namespace assay
