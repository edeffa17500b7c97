// Shared libraries loaded at run time.
#pragma once

#include <string>
#include <vector>

namespace assay {

/// The folders that an environment variable such as PATH lists, without empty and relative ones: files in the
/// current folder cannot be trusted.
std::vector<std::string> absolute_folders(const char* variable);

/// A loaded shared library; it stays loaded until the process ends, since its threads and handlers may
/// outlive us.
class DynamicLibrary {
 public:
  /// Loads `path`, or a bare name, which the system's loader searches for. Entries of LD_LIBRARY_PATH that
  /// are empty or relative mean the current folder and are skipped. Returns false and sets `error` when
  /// it cannot.
  static bool load(const std::string& path, DynamicLibrary& out, std::string& error);

  /// Null when the library has no such symbol.
  void* symbol(const char* name) const;
  /// The file that was loaded.
  std::string path() const;

 private:
  void* handle_ = nullptr;
};

}  // namespace assay
