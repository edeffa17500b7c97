// The step between opsets that changes what a model computes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace assay::debug {

/// To the next one, or, where a model is converted to an older opset, the one before.
struct OpsetStep {
  int64_t from = 0, to = 0;
};

/// `differs`: whether the model gives other results in this opset than in `from`; asked about `to` first,
/// then about log2 of the number of steps. Nothing where it does not differ there. Of several steps that
/// change results it is one behind which they differ.
std::optional<OpsetStep> find_opset_step(int64_t from, int64_t to,
                                         const std::function<bool(int64_t opset)>& differs);

}  // namespace assay::debug
