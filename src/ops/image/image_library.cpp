#include "ops/image/image_library.h"

#include "assay/error.h"

namespace assay {

ImageLibrary::ImageLibrary(const char* format, const char* package, std::initializer_list<const char*> names)
    : format_(format) {
  std::string reason;
  for (const char* name : names)
    if (DynamicLibrary::load(name, library_, reason)) return;
  Error e(ErrorCode::kUnsupported,
          fmt::format("a {} picture needs {}, which cannot be loaded ({})", format, package, reason));
  e.set_remedy(fmt::format("Install it; Debian's package is {}.", package));
  throw e;
}

void* ImageLibrary::symbol(const char* name) const {
  void* found = library_.symbol(name);
  require(found != nullptr, ErrorCode::kUnsupported, "{}, which decodes {} pictures, has no function {}",
          library_.path(), format_, name);
  return found;
}

}  // namespace assay
