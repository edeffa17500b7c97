// The backends of this build: backends.def read as declarations, and the look-up.
#pragma once

#include <span>
#include <string_view>

#include "assay/backend.h"

namespace assay {

#define ASSAY_BACKEND(name)   \
  namespace backend_##name {  \
    extern const Backend def; \
  }
#include "backends/backends.def"
#undef ASSAY_BACKEND

std::span<const Backend* const> all_backends();
/// By Backend::name; null when there is none.
const Backend* find_backend(std::string_view name);

}  // namespace assay
