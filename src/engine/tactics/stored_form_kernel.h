// The types that constant matrices may be stored in.
#pragma once

#include "engine/plan/plan.h"

namespace assay::engine {

bool is_storage_type(DType dtype);

}  // namespace assay::engine
