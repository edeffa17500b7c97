#include "backends/backend_list.h"

namespace assay {
namespace {

constexpr const Backend* kBackends[] = {
#define ASSAY_BACKEND(name) &backend_##name::def,
#include "backends/backends.def"
#undef ASSAY_BACKEND
};

}  // namespace

std::span<const Backend* const> all_backends() { return kBackends; }

const Backend* find_backend(std::string_view name) {
  for (const Backend* b : kBackends)
    if (b->name == name) return b;
  return nullptr;
}

}  // namespace assay
