#include "tensor/numbers.h"

#include "base/article.h"
#include "tensor/convert.h"

namespace assay {

Numbers::Numbers(DType kind, Shape shape) : kind_(kind), shape_(std::move(shape)), size_(shape_.numel()) {}

DType number_kind(DType dtype) {
  if (dtype == DType::kFloat64 || dtype == DType::kInt64 || dtype == DType::kUInt64) return dtype;
  if (is_float(dtype)) return DType::kFloat32;
  require(is_integer(dtype) || dtype == DType::kBool, ErrorCode::kInvalidArgument,
          "expected real numbers, found {} tensor", with_article(dtype_name(dtype)));
  return DType::kFloat64;
}

TensorNumbers::TensorNumbers(Tensor tensor)
    : Numbers(number_kind(tensor.dtype()), tensor.shape()), tensor_(std::move(tensor)) {}

const void* TensorNumbers::block(int64_t index, Scratch& scratch) const {
  const int64_t first = index * kBlock;
  const auto* bytes = static_cast<const std::byte*>(tensor_.data()) + storage_bytes(tensor_.dtype(), first);
  if (tensor_.dtype() == kind()) return bytes;
  const Tensor part = Tensor::view(tensor_.dtype(), Shape{block_size(index)}, bytes, nullptr);
  scratch.converted = convert(part, kind());
  return scratch.converted.data();
}

}  // namespace assay
