// Patterns of names in lists: the part of the selector language (docs/reference/selectors.md) that needs no
// graph.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::string_view kRegexPrefix = "re:";

/// True when a spec has a character that makes it a GLOB.
bool is_glob(std::string_view spec);

/// NAME, GLOB or re:REGEX. A glob has Python's rules: `*`, `?`, `[a-c]`, `[!a-c]`, and no escapes.
class NamePattern {
 public:
  /// Throws Error (kInvalidArgument) for a regular expression that is wrong.
  explicit NamePattern(std::string_view spec);

  const std::string& spec() const { return spec_; }
  /// True when the name equals the spec, which takes precedence over a pattern.
  bool is_name(std::string_view name) const { return name == spec_; }
  /// True when it is equal, or the pattern matches the whole name.
  bool matches(std::string_view name) const;

 private:
  std::string spec_;
  std::shared_ptr<const void> regex_;  // an RE2; null for a name and a glob
};

/// The last entry whose name is `name` itself, else the last whose pattern fits; null when there is none.
/// `pattern_of` gives an entry's NamePattern.
template <typename Entry, typename PatternOf>
const Entry* find_match(std::span<const Entry> entries, std::string_view name, PatternOf pattern_of) {
  const Entry* fitting = nullptr;
  for (size_t i = entries.size(); i-- > 0;) {
    const NamePattern& pattern = pattern_of(entries[i]);
    if (pattern.is_name(name)) return &entries[i];
    if (fitting == nullptr && pattern.matches(name)) fitting = &entries[i];
  }
  return fitting;
}

/// A spec without special characters of patterns; a name is unchanged.
std::string plain_text(std::string_view spec);

/// name_hint() for a spec: names similar to the pattern without its special characters.
std::string spec_hint(std::string_view spec, std::span<const std::string_view> candidates);
std::string spec_hint(std::string_view spec, std::span<const std::string> candidates);

}  // namespace assay
