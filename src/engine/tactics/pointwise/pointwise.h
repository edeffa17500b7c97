// Changes of element type, by the vector interpreter.
#pragma once

#include "engine/tactics/tactic.h"

namespace assay::engine {

/// A step of the tactic `pointwise` that brings a value from one element type into another, in the same
/// layout. What a DequantizeLinear gives may be stored as that node's input; other floats are rounded.
Candidate make_conversion(const Value& v, const Shape& shape, Format from, Format to);

}  // namespace assay::engine
