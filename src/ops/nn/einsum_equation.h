// The equation of Einsum, such as "bij,bjk->bik" or "...ii".
#pragma once

#include <string_view>
#include <vector>

namespace assay {

/// A dimension's label: a letter, or kEllipsis + n for the n-th dimension that an ellipsis stands for,
/// counted so that the last ones of every ellipsis are the same.
using EinsumLabel = int;
inline constexpr EinsumLabel kEllipsis = 256;
using EinsumTerm = std::vector<EinsumLabel>;

struct EinsumEquation {
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;
};

/// Reads the equation for inputs of the given ranks; -1 is an unknown rank, allowed where the term has no
/// ellipsis. Throws Error when the equation is malformed or does not suit the ranks.
EinsumEquation parse_einsum(std::string_view text, const std::vector<int>& ranks);
/// True when some input's rank must be known to read the equation.
bool has_ellipsis(std::string_view text);

}  // namespace assay
