// Attributes of nodes as Python prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/graph.h"

namespace assay {

/// `dtype=float32, shape=[2, 3]`: the shape is a list, as Polygraphy writes it of tensors in files.
std::string tensor_details(DType dtype, const Shape& shape);

/// The value of an attribute that holds no graph: 0.10000000149011612, [1, 2], ['a'], text unchanged, the
/// name of an element type (Cast.to = float32), a tensor as `Tensor: [dtype=int64, shape=[2]]`, followed by
/// its elements when `weights` is set. Nothing for the kinds that Polygraphy skips.
std::optional<std::string> attribute_text(std::string_view name, const Attribute::Data& data, bool weights);

/// Logs a warning, once for each kind (INTS, GRAPH, ...), of an attribute that has no such text.
void warn_of_skipped(std::string_view type);

}  // namespace assay
