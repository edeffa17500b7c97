// Shared libraries loaded at run time.
#pragma once

#include <string>

namespace assay {

/// A loaded shared library; it stays loaded until the process ends, since its threads and handlers may
/// outlive us.
class DynamicLibrary {
 public:
  /// Loads `path` (or a bare name, which the system's loader searches for). Returns false and sets `error`
  /// when it cannot.
  static bool load(const std::string& path, DynamicLibrary& out, std::string& error);

  /// Null when the library has no such symbol.
  void* symbol(const char* name) const;
  /// The file that was loaded.
  std::string path() const;

 private:
  void* handle_ = nullptr;
};

}  // namespace assay
