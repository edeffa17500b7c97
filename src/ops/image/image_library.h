// Libraries of picture formats, loaded when a picture needs one.
#pragma once

#include <initializer_list>
#include <string>

#include "base/dynamic_library.h"

namespace assay {

/// A loaded library.
class ImageLibrary {
 public:
  /// Loads the first of `names` that exists. Throws Error (kUnsupported) that says which package has it.
  ImageLibrary(const char* format, const char* package, std::initializer_list<const char*> names);

  /// Points `function` to the library's function of that name. Throws Error (kUnsupported) when it has none.
  template <typename F>
  void find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  DynamicLibrary library_;
  std::string format_;
};

}  // namespace assay
