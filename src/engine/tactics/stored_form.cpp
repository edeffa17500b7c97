#include "engine/tactics/stored_form.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/convert/convert.h"

namespace assay::engine {

namespace {

/// Every number of the constant has this type.
bool holds(const UnalignedTensor& constant, DType dtype) {
  const size_t piece = std::min<size_t>(4096, static_cast<size_t>(constant.numel()));
  std::vector<uint16_t> narrow(piece);
  std::vector<float> wide(piece), again(piece);
  const char* from = static_cast<const char*>(constant.data());
  for (auto left = static_cast<size_t>(constant.numel()); left > 0;) {
    const size_t count = std::min(piece, left);
    std::memcpy(wide.data(), from, count * sizeof(float));  // it may be at an odd address
    kernels::narrow_row(dtype, wide.data(), narrow.data(), count);
    kernels::widen_row(dtype, narrow.data(), again.data(), count);
    if (std::memcmp(again.data(), wide.data(), count * sizeof(float)) != 0) return false;
    from += count * sizeof(float);
    left -= count;
  }
  return true;
}

/// A finite number is beyond the type's range.
bool overflows(const UnalignedTensor& constant, DType dtype) {
  if (dtype != DType::kFloat16) return false;
  constexpr float kLimit = 65520;  // the least that is rounded to infinity
  const char* from = static_cast<const char*>(constant.data());
  for (int64_t i = 0; i < constant.numel(); ++i) {
    float x;
    std::memcpy(&x, from + i * static_cast<int64_t>(sizeof x), sizeof x);
    if (std::isfinite(x) && std::fabs(x) >= kLimit) return true;
  }
  return false;
}

}  // namespace

std::vector<StoredForm> stored_forms_of(const Problem& p, const UnalignedTensor& constant) {
  std::vector<StoredForm> forms = {{}};
  const Precisions& allowed = p.config().precisions;
  for (const auto& [dtype, is_allowed] :
       {std::pair(DType::kFloat16, allowed.float16), std::pair(DType::kBFloat16, allowed.bfloat16)})
    if (holds(constant, dtype))
      forms.push_back({dtype});
    else if (is_allowed && !overflows(constant, dtype))
      forms.push_back({dtype, NumericsClass::kLowered});
  return forms;
}

Tensor narrowed(const UnalignedTensor& constant, DType dtype) {
  const Tensor wide = constant.aligned();
  Tensor narrow = Tensor::allocate(dtype, wide.shape());
  kernels::narrow_row(dtype, wide.data<float>(), narrow.mutable_data(), static_cast<size_t>(wide.numel()));
  return narrow;
}

}  // namespace assay::engine
