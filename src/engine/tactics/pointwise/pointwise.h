// Changes of element type, by the vector interpreter.
#pragma once

#include "engine/tactics/tactic.h"

namespace assay::engine {

/// A step of the tactic `pointwise` that converts a value to another element type, in the same layout. The
/// output of a DequantizeLinear may be stored as that node's input; other floats are rounded.
Candidate make_conversion(const Value& v, const Shape& shape, Format from, Format to);

}  // namespace assay::engine
