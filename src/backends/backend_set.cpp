#include "assay/backend_set.h"

#include <fmt/format.h>

#include "assay/error.h"
#include "backends/backend_list.h"

namespace assay {

void BackendSet::add(const Backend& backend, std::shared_ptr<const void> owner) {
  for (const Backend* b : backends_) {
    require(b->name != backend.name, ErrorCode::kInvalidArgument, "there is a backend '{}' already",
            backend.name);
    require(b->option != backend.option || b->option.empty(), ErrorCode::kInvalidArgument,
            "the option {} of the backend '{}' is that of '{}' already", backend.option, backend.name,
            b->name);
  }
  backends_.push_back(&backend);
  if (owner != nullptr) owners_.push_back(std::move(owner));
}

const Backend* BackendSet::find(std::string_view name) const {
  for (const Backend* b : backends_)
    if (b->name == name) return b;
  return nullptr;
}

const Backend& BackendSet::get(std::string_view name) const {
  if (const Backend* found = find(name)) return *found;
  std::vector<std::string_view> names;
  for (const Backend* b : backends_) names.push_back(b->name);
  fail(ErrorCode::kNotFound, "there is no backend '{}'; there are: {}", name, fmt::join(names, ", "));
}

const BackendSet& built_in_backends() {
  static const auto* const kSet = [] {
    auto* set = new BackendSet;
#define ASSAY_BACKEND(name) set->add(backend_##name::def);
#include "backends/backends.def"
#undef ASSAY_BACKEND
    return set;
  }();
  return *kSet;
}

}  // namespace assay
