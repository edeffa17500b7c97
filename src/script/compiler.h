// C++ scripts, compiled once by the system's compiler.
#pragma once

#include <memory>
#include <string>

namespace assay::script {

/// A shared library made from a script.
struct CompiledScript {
  std::string library;                  ///< its path
  std::shared_ptr<void> keeps_library;  ///< null, or removes the file with the last copy
};

/// Compiles `path` with $CXX and $CXXFLAGS, or the first of c++, g++ and clang++ on PATH. The library is kept
/// in $XDG_CACHE_HOME/assay/scripts (~/.cache without it), by the content of the script, of the headers it
/// includes with quotes, of assay/script.h, and by the compiler's version. If that folder cannot be used,
/// warns, and the library is temporary. Throws Error: kNotFound without a compiler, kInvalidArgument with the
/// compiler's output.
CompiledScript compile_script(const std::string& path);

}  // namespace assay::script
