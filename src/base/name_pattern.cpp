#include "base/name_pattern.h"

#include <fnmatch.h>
#include <re2/re2.h>

#include <vector>

#include "assay/error.h"
#include "base/similar_name.h"

namespace assay {

bool is_glob(std::string_view spec) { return spec.find_first_of("*?[") != std::string_view::npos; }

NamePattern::NamePattern(std::string_view spec) : spec_(spec) {
  if (!spec.starts_with(kRegexPrefix)) return;
  auto regex = std::make_shared<RE2>(std::string(spec.substr(kRegexPrefix.size())), RE2::Quiet);
  require(regex->ok(), ErrorCode::kInvalidArgument, "'{}' is not a regular expression: {}", spec,
          regex->error());
  regex_ = std::move(regex);
}

bool NamePattern::matches(std::string_view name) const {
  if (is_name(name)) return true;
  if (regex_ != nullptr)
    return RE2::FullMatch({name.data(), name.size()}, *static_cast<const RE2*>(regex_.get()));
  return is_glob(spec_) && ::fnmatch(spec_.c_str(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
}

std::string plain_text(std::string_view spec) {
  if (!spec.starts_with(kRegexPrefix) && !is_glob(spec)) return std::string(spec);
  if (spec.starts_with(kRegexPrefix)) spec.remove_prefix(kRegexPrefix.size());
  std::string text;
  bool in_set = false;
  for (const char c : spec) {
    if (c == '[' || c == ']')
      in_set = c == '[';
    else if (!in_set && std::string_view("*?()|^$+\\{}").find(c) == std::string_view::npos)
      text += c;
  }
  return text;
}

std::string spec_hint(std::string_view spec, std::span<const std::string_view> candidates) {
  return name_hint(plain_text(spec), candidates);
}

std::string spec_hint(std::string_view spec, std::span<const std::string> candidates) {
  return spec_hint(spec, std::vector<std::string_view>(candidates.begin(), candidates.end()));
}

}  // namespace assay
