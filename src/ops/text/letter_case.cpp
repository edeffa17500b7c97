#include "ops/text/letter_case.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "assay/error.h"
#include "base/utf8.h"

namespace assay {
namespace {

/// Code points `first` to `last`, every `step`-th, map to themselves plus `delta`.
struct CaseRange {
  char32_t first, last;
  uint32_t step;
  int32_t delta;
};

#include "ops/text/letter_case_table.inc"

char32_t map_point(std::span<const CaseRange> table, char32_t point) {
  const auto next = std::upper_bound(table.begin(), table.end(), point,
                                     [](char32_t p, const CaseRange& r) { return p < r.first; });
  if (next == table.begin()) return point;
  const CaseRange& r = *(next - 1);
  if (point > r.last || (point - r.first) % r.step != 0) return point;
  return static_cast<char32_t>(static_cast<int64_t>(point) + r.delta);
}

}  // namespace

CaseRules case_rules(std::string_view locale) {
  const std::string_view language = locale.substr(0, std::min(locale.find_first_of("_-.@"), locale.size()));
  return {.dotless_i = language == "tr" || language == "az"};
}

char32_t to_case(char32_t point, LetterCase to, CaseRules rules) {
  constexpr char32_t kDottedCapital = 0x130, kDotlessSmall = 0x131;
  if (rules.dotless_i && to == LetterCase::kUpper && point == 'i') return kDottedCapital;
  if (rules.dotless_i && to == LetterCase::kLower && point == 'I') return kDotlessSmall;
  return to == LetterCase::kUpper ? map_point(kToUpper, point) : map_point(kToLower, point);
}

std::string to_case(std::string_view text, LetterCase to, CaseRules rules) {
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const char32_t point = take_code_point(rest);
    require(point != kNotUtf8, ErrorCode::kInvalidArgument, "a string to change the case of is not UTF-8");
    append_code_point(out, to_case(point, to, rules));
  }
  return out;
}

}  // namespace assay
