#include "assay/shape.h"

#include "assay/error.h"

namespace assay {

int64_t Shape::numel() const { return numel(0, dims_.size()); }

int64_t Shape::numel(size_t first, size_t last) const {
  int64_t n = 1;
  for (size_t i = first; i < last; ++i) {
    if (dims_[i] < 0) fail(ErrorCode::kInvalidArgument, "the shape {} has a negative extent", str());
    if (__builtin_mul_overflow(n, dims_[i], &n))
      fail(ErrorCode::kInvalidArgument, "the shape {} has more elements than 64 bits can count", str());
  }
  return n;
}

std::vector<int64_t> Shape::strides() const {
  std::vector<int64_t> s(dims_.size());
  int64_t step = 1;
  for (size_t i = dims_.size(); i-- > 0;) {
    s[i] = step;
    // Only a shape without elements, which uses no stride, can have extents whose product overflows.
    if (__builtin_mul_overflow(step, dims_[i], &step)) step = 0;
  }
  return s;
}

std::string Shape::str() const {
  std::string out = "(";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(dims_[i]);
  }
  if (dims_.size() == 1) out += ',';
  return out + ")";
}

int normalize_axis(int64_t axis, int rank, const char* what) {
  require(axis >= -rank && axis < rank, ErrorCode::kInvalidArgument,
          "{} {} is outside [-{}, {}), the range for rank {}", what, axis, rank, rank, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<int64_t> out(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) [[unlikely]]
      fail(ErrorCode::kInvalidArgument, "the shapes {} and {} cannot be broadcast together", a.str(),
           b.str());
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return Shape(std::move(out));
}

}  // namespace assay
