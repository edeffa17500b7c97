#include "debug/opset_search.h"

namespace assay::debug {

std::optional<OpsetStep> find_opset_step(int64_t from, int64_t to,
                                         const std::function<bool(int64_t)>& differs) {
  if (from == to || !differs(to)) return std::nullopt;
  int64_t same = from, differing = to;
  while (differing - same > 1 || same - differing > 1) {
    const int64_t middle = same + (differing - same) / 2;
    (differs(middle) ? differing : same) = middle;
  }
  return OpsetStep{.from = same, .to = differing};
}

}  // namespace assay::debug
