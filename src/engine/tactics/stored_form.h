// How a constant float32 matrix may be stored: in 32 bits, or in 16 where that changes none of its numbers or
// where the caller allows it.
#pragma once

#include "engine/tactics/stored_form_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

struct StoredForm {
  DType dtype = DType::kFloat32;
  NumericsClass numerics = NumericsClass::kReassociated;

  bool is_narrow() const { return dtype != DType::kFloat32; }
  /// What candidates call it: nothing for float32.
  std::string variant() const { return is_narrow() ? std::string(dtype_name(dtype)) : std::string(); }
};

/// float32 first.
std::vector<StoredForm> stored_forms_of(const Problem& p, const UnalignedTensor& constant);

/// float32 numbers rounded to float16 or bfloat16.
Tensor narrowed(const UnalignedTensor& constant, DType dtype);

}  // namespace assay::engine
