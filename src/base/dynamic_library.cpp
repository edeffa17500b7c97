#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

namespace assay {

bool DynamicLibrary::load(const std::string& path, DynamicLibrary& out, std::string& error) {
  out.handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (out.handle_ != nullptr) return true;
  const char* reason = ::dlerror();
  error = reason != nullptr ? reason : "unknown reason";
  return false;
}

void* DynamicLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

}  // namespace assay
