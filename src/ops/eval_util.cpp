#include "ops/eval_util.h"

namespace assay {

std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  std::vector<int64_t> out(to.size(), 0);
  const std::vector<int64_t> own = from.strides();
  const size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) out[offset + i] = from[i] == 1 ? 0 : own[i];
  return out;
}

}  // namespace assay
