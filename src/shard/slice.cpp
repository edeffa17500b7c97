#include "shard/slice.h"

#include <cstring>

#include "assay/error.h"
#include "base/resident_memory.h"
#include "tensor/half.h"

namespace assay {
namespace {

/// The position of the part, in bits.
struct Layout {
  int64_t blocks;  ///< pieces that are each contiguous
  int64_t stride, offset, length;

  bool in_bytes() const { return stride % 8 == 0 && offset % 8 == 0 && length % 8 == 0; }
};

Layout layout_of(const UnalignedTensor& t, size_t axis, int64_t begin, int64_t end) {
  const Shape& s = t.shape();
  const int64_t inner = s.numel(axis + 1, s.size()) * bit_width(t.dtype());
  return {.blocks = s.numel(0, axis),
          .stride = s[axis] * inner,
          .offset = begin * inner,
          .length = (end - begin) * inner};
}

}  // namespace

UnalignedTensor slice_along(const UnalignedTensor& t, size_t axis, int64_t begin, int64_t end) {
  require(axis < t.shape().size() && begin >= 0 && begin <= end && end <= t.shape()[axis],
          ErrorCode::kInternal, "no slice {}:{} along dimension {} of shape {}", begin, end, axis,
          t.shape().str());
  require(!t.is_container() && t.dtype() != DType::kString, ErrorCode::kUnsupported,
          "tensors of type {} cannot be sliced", dtype_name(t.dtype()));
  Shape shape = t.shape();
  shape[axis] = end - begin;
  const Layout l = layout_of(t, axis, begin, end);
  if (!l.in_bytes()) {  // one element per byte, or more
    const Tensor part = slice_along(unpack(t.aligned()), axis, begin, end).aligned();
    return pack(part, t.dtype());
  }
  const auto* from = static_cast<const char*>(t.data()) + l.offset / 8;
  if (l.blocks == 1)
    return UnalignedTensor::view(t.dtype(), shape, from, std::make_shared<UnalignedTensor>(t));
  Tensor out = Tensor::allocate(t.dtype(), shape);
  auto* to = static_cast<char*>(out.mutable_data());
  for (int64_t i = 0; i < l.blocks; ++i)
    std::memcpy(to + i * l.length / 8, from + i * l.stride / 8, static_cast<size_t>(l.length / 8));
  drop_after_use(t.data(), t.nbytes());
  return out;
}

}  // namespace assay
