// Parts shared by expansions. They are for opset 13 and newer if noted, else for every opset that has their
// operators.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "convert/rewrite.h"

namespace assay {

/// An integer of rank 0.
Value* whole(Rewrite& r, int64_t number, std::string_view hint);
/// -inf of an element type, of rank 0.
Value* minus_infinity(Rewrite& r, DType dtype);
/// The largest finite number of a float type of 16 bits or more; NoEquivalent naming any other type.
double largest_number(DType dtype);

/// Extent `axis`, counted from the front, when it is known.
std::optional<int64_t> known_extent(const Value* v, int64_t axis);
/// The same for input i; NoEquivalent naming it as `name` when it is not known.
int64_t needed_extent(const Rewrite& r, size_t i, int64_t axis, std::string_view name);
/// Extent `axis`, counted from the front, as int64 of rank 0; a constant when it is known.
Value* extent(Rewrite& r, Value* v, int64_t axis);
/// The extents [first, last), counted from the front, as a list of int64.
Value* extents(Rewrite& r, Value* v, int64_t first, int64_t last);

Value* transpose(Rewrite& r, Value* v, std::vector<int64_t> perm);
Value* reshape(Rewrite& r, Value* v, const std::vector<int64_t>& shape);
/// New axes of extent 1 (opset 13).
Value* unsqueeze(Rewrite& r, Value* v, const std::vector<int64_t>& axes);
/// 0, 1, ... count - 1 as int64; `count` has rank 0 (opset 11).
Value* count_up(Rewrite& r, Value* count);
/// The elements [first, last) of an axis (opset 10).
Value* slice(Rewrite& r, Value* v, int64_t axis, int64_t first, int64_t last);

}  // namespace assay
