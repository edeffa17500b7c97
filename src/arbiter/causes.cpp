#include "arbiter/causes.h"

#include <cmath>
#include <string_view>

namespace assay {
namespace {

/// What an operator ends with (empty: any), a part of the pattern or problem, and what they point to. The
/// first that fits is said.
struct Cause {
  std::string_view op_type, pattern, text;
};

constexpr Cause kCauses[] = {
    {"", "shape is",
     "another rule for the output's shape: padding, ceil_mode, keepdims or a dropped dimension"},
    {"", "type is", "a type that the backend does not have and replaced"},
    {"", "one that bfloat16 has", "it is computed in bfloat16 (a fast-math mode?)"},
    {"", "one that float16 has", "it is computed in float16"},
    {"Softmax", "infinite", "the largest element is not subtracted before the exponential"},
    {"", "NaN", "a division of zeros or an overflow within the operator; uninitialised memory"},
    {"", "infinite", "an overflow within the operator"},
    {"", "shifted by one", "an index that is off by one: padding, stride phase, or rounding of coordinates"},
    {"", "in another order", "another axis, layout or permutation"},
    {"", "tail of a vector width", "the loop over what remains after the last whole vector"},
    {"Conv", "only the last index", "padding at the end of an axis"},
    {"", "a single element", "a damaged weight or a flipped bit"},
    {"Conv", "only index", "one channel's weights, bias or scale"},
    {"", "of the border", "padding: how much there is, what it holds, or whether it is counted"},
    {"BatchNormalization", "times the exact value", "epsilon, or the scale of the normalisation"},
    {"BatchNormalization", "a factor of its own", "epsilon: it matters most where the variance is small"},
    {"Normalization", "times the exact value", "epsilon, or a variance over n-1"},
    {"Normalization", "a factor of its own", "epsilon: it matters most where the variance is small"},
    {"", "times the exact value", "a scale, or a count that divides (n-1, padding counted)"},
    {"", "is off by", "a bias or zero point that is added twice or not at all"},
};

}  // namespace

std::string likely_cause(const ArbiterVerdict& v) {
  for (const Cause& c : kCauses)
    if ((v.op_type.ends_with(c.op_type)) &&
        (v.pattern.find(c.pattern) != std::string::npos || v.problem.find(c.pattern) != std::string::npos))
      return std::string(c.text);
  if (v.from_feed && v.elements > 1 && v.beyond * 2 > v.elements)
    return "other inputs or weights than those that the reference was given";
  if (v.worst_exact != 0 && v.worst_result == 0) return "the element is not computed";
  return {};
}

}  // namespace assay
