// FILE[:FUNCTION], the syntax in which options name a script's function.
#pragma once

#include <string>
#include <string_view>

namespace assay::script {

enum class Language : uint8_t {
  kPython,   ///< .py: runs in the user's Python interpreter
  kSource,   ///< .cpp, .cc, .cxx: compiled, then loaded
  kLibrary,  ///< .so: loaded as it is
};

struct Reference {
  std::string path;      ///< as given by the user
  std::string function;  ///< the default unless one was named
  Language language = Language::kPython;

  /// `data.py:load_data`, for messages.
  std::string str() const { return path + ":" + function; }
};

/// Splits at the last colon if a name follows it and the whole text is not a file: a path may hold colons.
/// Throws Error: kInvalidArgument for a text without a file or with a suffix of no language, kNotFound and
/// kIo for what is not a regular file.
Reference parse_reference(std::string_view text, std::string_view default_function);

}  // namespace assay::script
