#include "compare/pair_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/log.h"
#include "base/python_repr.h"
#include "compare/match_shape.h"

namespace assay {
namespace {

/// As Python prints a set, in the order given.
std::string set_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + python_str_repr(name);
  return "{" + text + "}";
}

void log_different_shapes(const OutputPair& pair) {
  log::error(
      "FAILED | Output: `{}` | Will not compare outputs of different shapes.\nNote: Output shapes are {} and "
      "{}.",
      pair.name0, pair.output0.shape().str(), pair.output1.shape().str());
}

bool is_number(const Tensor& t) {
  return is_float(t.dtype()) || is_integer(t.dtype()) || t.dtype() == DType::kBool;
}

}  // namespace

void warn_about_extra_names(std::string_view option, const std::vector<std::string>& names,
                            const OutputSource& source0, const OutputSource& source1) {
  if (names.empty()) return;
  std::vector<std::string> known = source0.names();
  std::unordered_set<std::string> seen(known.begin(), known.end());
  for (const std::string& name : source1.names())
    if (seen.insert(name).second) known.push_back(name);
  known.emplace_back();
  std::vector<std::string> extra;
  std::string hints;
  for (const std::string& name : names) {
    const NamePattern pattern(name);
    if (std::any_of(known.begin(), known.end(), [&](const auto& k) { return pattern.matches(k); })) continue;
    extra.push_back(name);
    if (const std::string hint = spec_hint(name, known); !hint.empty()) hints += "\n" + hint;
  }
  if (extra.empty()) return;
  log::warning("Extra items in the {} dictionary: {}.\nNote: items requested were: {}, but all items are: {}{}",
               option, set_text(extra), set_text(known), set_text(names), hints);
}

void announce_shape_check(bool check_shapes) {
  if (!check_shapes)
    log::info("Strict shape checking disabled. Will attempt to match output shapes before comparisons");
}

std::optional<OutputPair> with_equal_shapes(const OutputPair& pair, bool check_shapes) {
  OutputPair matched = pair;
  if (pair.output0.shape() == pair.output1.shape()) return matched;
  if (check_shapes) {
    log_different_shapes(pair);
    log::once(log::Severity::kError,
              "Note: Use --no-shape-check or set check_shapes=False to attempt to compare values anyway.");
    return std::nullopt;
  }
  matched.output1 = try_match_shape(pair.output1, pair.output0.shape().dims());
  if (matched.output1.shape() == matched.output0.shape()) return matched;
  log_different_shapes(pair);
  return std::nullopt;
}

bool check_numeric(const OutputPair& pair) {
  if (is_number(pair.output0) && is_number(pair.output1)) return true;
  log::error("FAILED | Output: '{}' | Cannot compare {} with {} outputs.", pair.name0,
             dtype_name(pair.output0.dtype()), dtype_name(pair.output1.dtype()));
  return false;
}

}  // namespace assay
