#include "engine/tactics/stored_form_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/convert/convert.h"

namespace assay::engine {

bool is_storage_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

}  // namespace assay::engine
