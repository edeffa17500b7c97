#include "debug/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "tensor/numbers.h"
#include "tensor/position.h"

namespace assay::debug {

std::vector<int64_t> index_of(const Shape& shape, int64_t flat) {
  const Shape index = index_at(shape, flat);
  return {index.begin(), index.end()};
}

int64_t flat_index(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

std::vector<int64_t> broadcast_index(const Shape& shape, const std::vector<int64_t>& index) {
  std::vector<int64_t> own(shape.size());
  const size_t lead = index.size() - std::min(index.size(), shape.size());
  for (size_t i = 0; i < own.size() && lead + i < index.size(); ++i)
    own[i] = shape[i] == 1 ? 0 : index[lead + i];
  return own;
}

bool has_numbers(const Tensor& t) {
  return !t.is_container() && t.dtype() != DType::kUndefined && t.dtype() != DType::kString &&
         !is_complex(t.dtype());
}

double number_at(const Tensor& t, int64_t flat) {
  const TensorNumbers numbers(t);
  Numbers::Scratch scratch;
  const void* block = numbers.block(flat / Numbers::kBlock, scratch);
  return visit_kind(numbers.kind(), [&]<typename T>() {
    return static_cast<double>(static_cast<const T*>(block)[flat % Numbers::kBlock]);
  });
}

std::pair<double, double> extremes_of(const Tensor& t) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  const TensorNumbers numbers(t);
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t count, int64_t) {
      for (int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(p[i]);
        if (x < least) least = x;
        if (x > largest) largest = x;
      }
      return true;
    });
  });
  return {least, largest};
}

std::string place_text(const std::string& name, const std::vector<int64_t>& index) {
  return index.empty() ? name : fmt::format("{}[{}]", name, fmt::join(index, ", "));
}

}  // namespace assay::debug
