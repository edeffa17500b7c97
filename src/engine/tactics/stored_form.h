// Storage types of a constant float32 matrix: 32 bits,
// or 16 if that is lossless or the caller allows it.
#pragma once

#include "engine/tactics/stored_form_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

struct StoredForm {
  DType dtype = DType::kFloat32;
  NumericsClass numerics = NumericsClass::kReassociated;

  bool is_narrow() const { return dtype != DType::kFloat32; }
  /// Its name in candidates: empty for float32.
  std::string variant() const { return is_narrow() ? std::string(dtype_name(dtype)) : std::string(); }
};

/// float32 first.
std::vector<StoredForm> stored_forms_of(const Problem& p, const UnalignedTensor& constant);

/// float32 numbers rounded to float16 or bfloat16.
Tensor narrowed(const UnalignedTensor& constant, DType dtype);

}  // namespace assay::engine
