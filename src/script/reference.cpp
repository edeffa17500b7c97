#include "script/reference.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "assay/error.h"
#include "base/input_file.h"

namespace assay::script {
namespace {

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

std::optional<Language> language_of(std::string_view path) {
  if (path.ends_with(".py")) return Language::kPython;
  for (const std::string_view suffix : {".cpp", ".cc", ".cxx"})
    if (path.ends_with(suffix)) return Language::kSource;
  if (path.ends_with(".so")) return Language::kLibrary;
  return std::nullopt;
}

}  // namespace

Reference parse_reference(std::string_view text, std::string_view default_function) {
  Reference reference{std::string(text), std::string(default_function)};
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && !std::filesystem::exists(reference.path, ignored)) {
    const std::string_view name = text.substr(colon + 1);
    if (name.empty() || is_identifier(name)) {
      reference.path = text.substr(0, colon);
      if (!name.empty()) reference.function = name;
    }
  }
  if (reference.path.empty()) {
    Error e(ErrorCode::kInvalidArgument, fmt::format("'{}' names no script", text));
    throw e.set_remedy("Write FILE or FILE:FUNCTION, as in data.py:load_data.");
  }
  const auto language = language_of(reference.path);
  if (!language) {
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("the script '{}' has a suffix of no known language", reference.path));
    throw e.set_remedy(
        "Scripts are .py, .cpp (.cc, .cxx) or .so files; FILE:FUNCTION names one of their functions.");
  }
  reference.language = *language;
  with_context([] { return std::string("as a script"); }, [&] { open_input(reference.path); });
  return reference;
}

}  // namespace assay::script
