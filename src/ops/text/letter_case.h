// Upper and lower case of text, by Unicode's simple mappings (one code point to one), whatever the locale of
// the process.
#pragma once

#include <string>
#include <string_view>

namespace assay {

enum class LetterCase { kLower, kUpper };

/// Rules of a language that differ from the general ones.
struct CaseRules {
  /// Turkish and Azerbaijani: i and dotted capital I, dotless i and I are the pairs.
  bool dotless_i = false;
};

/// The rules for a locale's name such as `en_US`, `tr_TR.UTF-8` or ``.
CaseRules case_rules(std::string_view locale);

char32_t to_case(char32_t point, LetterCase to, CaseRules rules = {});
/// Throws Error (kInvalidArgument) when the text is not UTF-8.
std::string to_case(std::string_view text, LetterCase to, CaseRules rules = {});

}  // namespace assay
