// backends.def read as declarations.
#pragma once

#include "assay/backend.h"

namespace assay {

#define ASSAY_BACKEND(name)    \
  namespace backend_##name {   \
    extern const Backend& def; \
  }
#include "backends/backends.def"
#undef ASSAY_BACKEND

}  // namespace assay
