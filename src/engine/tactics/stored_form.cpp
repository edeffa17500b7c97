#include "engine/tactics/stored_form.h"

#include <algorithm>
#include <cstring>

#include "kernels/convert/convert.h"

namespace assay::engine {
namespace {

kernels::NarrowType narrow_type(DType dtype) {
  return dtype == DType::kFloat16 ? kernels::NarrowType::kFloat16 : kernels::NarrowType::kBfloat16;
}

/// Every number of the constant has this type.
bool holds(const UnalignedTensor& constant, DType dtype) {
  const Tensor wide = constant.aligned();
  constexpr int64_t kPiece = 4096;
  std::vector<uint16_t> narrow(kPiece);
  std::vector<float> again(kPiece);
  for (int64_t i = 0; i < wide.numel(); i += kPiece) {
    const auto count = static_cast<size_t>(std::min(kPiece, wide.numel() - i));
    kernels::narrow_row(narrow_type(dtype), wide.data<float>() + i, narrow.data(), count);
    kernels::widen_row(narrow_type(dtype), narrow.data(), again.data(), count);
    if (std::memcmp(again.data(), wide.data<float>() + i, count * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace

std::vector<StoredForm> stored_forms_of(const Problem& p, const UnalignedTensor& constant) {
  std::vector<StoredForm> forms = {{}};
  const Precisions& allowed = p.config().precisions;
  for (const auto& [dtype, is_allowed] :
       {std::pair(DType::kFloat16, allowed.float16), std::pair(DType::kBFloat16, allowed.bfloat16)})
    if (holds(constant, dtype))
      forms.push_back({dtype});
    else if (is_allowed)
      forms.push_back({dtype, NumericsClass::kLowered});
  return forms;
}

bool is_storage_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

Tensor narrowed(const UnalignedTensor& constant, DType dtype) {
  const Tensor wide = constant.aligned();
  Tensor narrow = Tensor::allocate(dtype, wide.shape());
  kernels::narrow_row(narrow_type(dtype), wide.data<float>(), narrow.mutable_data(),
                      static_cast<size_t>(wide.numel()));
  return narrow;
}

}  // namespace assay::engine
