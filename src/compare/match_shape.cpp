#include "compare/match_shape.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "base/python_repr.h"
#include "tensor/half.h"

namespace assay {
namespace {

bool is_open(int64_t extent) { return extent < 0; }

/// Fills in the open extents that the tensor determines.
std::vector<int64_t> freeze(const Tensor& tensor, std::span<const int64_t> dims) {
  std::vector<int64_t> frozen(dims.begin(), dims.end());
  const auto open = std::count_if(dims.begin(), dims.end(), is_open);
  if (open == 1) {
    int64_t known = 1;
    for (const int64_t d : dims)
      if (!is_open(d) && __builtin_mul_overflow(known, d, &known)) return frozen;
    std::replace_if(frozen.begin(), frozen.end(), is_open, known == 0 ? 0 : tensor.numel() / known);
  } else if (open > 1 && dims.size() == tensor.shape().size()) {
    for (size_t i = 0; i < frozen.size(); ++i)
      if (is_open(frozen[i])) frozen[i] = tensor.dim(i);
  }
  return frozen;
}

/// Number of elements, or -1 when an extent is open or the number overflows.
int64_t volume(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (const int64_t d : dims)
    if (is_open(d) || __builtin_mul_overflow(n, d, &n)) return -1;
  return n;
}

std::vector<int64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }
std::vector<int64_t> list(std::span<const int64_t> dims) { return {dims.begin(), dims.end()}; }

Tensor try_reshape(const Tensor& tensor, std::span<const int64_t> dims, bool& failed,
                   std::vector<ShapeStep>& steps) {
  if (std::equal(dims.begin(), dims.end(), tensor.shape().begin(), tensor.shape().end())) return tensor;
  if (volume(dims) != tensor.numel()) {
    failed = true;
    steps.push_back({ShapeStep::Kind::kCannotReshape, extents(tensor.shape()), list(dims)});
    return tensor;
  }
  Tensor reshaped = tensor.reshaped(Shape(dims.begin(), dims.end()));
  steps.push_back({ShapeStep::Kind::kReshaped, extents(tensor.shape()), extents(reshaped.shape())});
  return reshaped;
}

/// Each wanted extent takes the first axis of that extent that is still free.
std::vector<int64_t> first_fit(const Shape& from, std::span<const int64_t> to) {
  std::vector<int64_t> permutation;
  std::vector<bool> used(from.size());
  for (const int64_t extent : to) {
    size_t axis = 0;
    while (used[axis] || from[axis] != extent) ++axis;
    used[axis] = true;
    permutation.push_back(static_cast<int64_t>(axis));
  }
  return permutation;
}

Tensor try_permute(const Tensor& tensor, std::span<const int64_t> dims, std::vector<ShapeStep>& steps) {
  if (std::equal(dims.begin(), dims.end(), tensor.shape().begin(), tensor.shape().end())) return tensor;
  if (!std::is_permutation(dims.begin(), dims.end(), tensor.shape().begin(), tensor.shape().end())) {
    steps.push_back({ShapeStep::Kind::kCannotPermute, extents(tensor.shape()), list(dims)});
    return tensor;
  }
  const std::vector<int64_t> permutation = first_fit(tensor.shape(), dims);
  Tensor permuted = transpose(tensor, permutation);
  steps.push_back(
      {ShapeStep::Kind::kPermuted, extents(tensor.shape()), extents(permuted.shape()), permutation});
  return permuted;
}

/// Copies rows along the innermost axis of the result; the outer index is counted up axis by axis.
template <typename T>
void copy_permuted(const T* from, T* to, const Shape& shape, const std::vector<int64_t>& strides) {
  const size_t rank = shape.size();
  const int64_t inner = shape.back(), step = strides.back();
  const int64_t rows = shape.numel(0, rank - 1);
  parallel_for(rows, std::max<int64_t>(1, (16 << 10) / std::max<int64_t>(inner, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t row = first; row < last; ++row) {
                   int64_t rest = row, source = 0;
                   for (size_t axis = rank - 1; axis-- > 0;) {
                     source += rest % shape[axis] * strides[axis];
                     rest /= shape[axis];
                   }
                   for (int64_t i = 0; i < inner; ++i) to[row * inner + i] = from[source + i * step];
                 }
               });
}

template <size_t kBytes>
struct Bytes {
  unsigned char bytes[kBytes];
};

void copy_elements(const Tensor& from, Tensor& to, const std::vector<int64_t>& strides) {
  const auto copy = [&]<typename T>() {
    copy_permuted(static_cast<const T*>(from.data()), static_cast<T*>(to.mutable_data()), to.shape(),
                  strides);
  };
  if (from.dtype() == DType::kString) return copy.template operator()<std::string>();
  switch (bit_width(from.dtype()) / 8) {
    case 1:
      return copy.template operator()<Bytes<1>>();
    case 2:
      return copy.template operator()<Bytes<2>>();
    case 4:
      return copy.template operator()<Bytes<4>>();
    case 8:
      return copy.template operator()<Bytes<8>>();
    default:
      return copy.template operator()<Bytes<16>>();
  }
}

}  // namespace

Tensor transpose(const Tensor& tensor, std::span<const int64_t> permutation) {
  std::vector<int64_t> axes(permutation.begin(), permutation.end());
  std::sort(axes.begin(), axes.end());
  std::vector<int64_t> all(tensor.shape().size());
  std::iota(all.begin(), all.end(), 0);
  require(axes == all, ErrorCode::kInvalidArgument,
          "{} is not a permutation of the axes of a tensor of shape {}", python_list_repr(permutation),
          tensor.shape().str());
  const Tensor from = unpack(tensor);
  Shape shape;
  std::vector<int64_t> strides;
  const std::vector<int64_t> from_strides = from.shape().strides();
  for (const int64_t axis : permutation) {
    shape.push_back(from.dim(static_cast<size_t>(axis)));
    strides.push_back(from_strides[static_cast<size_t>(axis)]);
  }
  if (from.numel() == 0 || shape.empty()) return from.reshaped(std::move(shape));
  Tensor to = Tensor::allocate(from.dtype(), std::move(shape));
  copy_elements(from, to, strides);
  return to;
}

Tensor try_match_shape(const Tensor& tensor, std::span<const int64_t> dims, std::vector<ShapeStep>& steps) {
  const std::vector<int64_t> target = freeze(tensor, dims);
  bool failed = false;
  Tensor result = tensor;
  if (target.size() != tensor.shape().size()) result = try_reshape(result, target, failed, steps);
  if (target.size() == result.shape().size()) result = try_permute(result, target, steps);
  return failed ? result : try_reshape(result, target, failed, steps);
}

}  // namespace assay
