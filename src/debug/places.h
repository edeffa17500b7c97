// Elements of tensors by their places.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/tensor.h"

namespace assay::debug {

std::vector<int64_t> index_of(const Shape& shape, int64_t flat);
int64_t flat_index(const Shape& shape, const std::vector<int64_t>& index);
/// Where the element stands that is broadcast to `index` of a larger shape.
std::vector<int64_t> broadcast_index(const Shape& shape, const std::vector<int64_t>& index);

/// Whether its elements are real numbers.
bool has_numbers(const Tensor& t);
/// The element at a flat index, as float64.
double number_at(const Tensor& t, int64_t flat);
/// The least and the largest number, NaN left out; infinity and -infinity where there is none.
std::pair<double, double> extremes_of(const Tensor& t);

/// `name[0, 3]`; of a scalar `name`.
std::string place_text(const std::string& name, const std::vector<int64_t>& index);

}  // namespace assay::debug
