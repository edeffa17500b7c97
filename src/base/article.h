// "a" or "an", where the noun is filled in.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The noun with its article: "an int64", "a uint8", "an unknown", "a float32". For names of types and kinds.
inline std::string with_article(std::string_view noun) {
  const bool is_vowel =
      !noun.empty() && std::string_view("aeioAEIO").find(noun.front()) != std::string_view::npos;
  const bool is_u = noun.starts_with("un") && !noun.starts_with("uni");  // but: a uint8, a union
  return std::string(is_vowel || is_u ? "an " : "a ").append(noun);
}

}  // namespace assay
