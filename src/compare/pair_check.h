// Checks common to all comparison functions, before values are compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/tolerance.h"

namespace assay {

/// Reports names and patterns in a per-output option that match no output of either source.
/// `option` is its name in the message: `rtol`.
void check_output_names(std::string_view option, const std::vector<std::string>& names,
                        const OutputSource& source0, const OutputSource& source1, CompareObserver& observer);
template <typename T>
void check_output_names(std::string_view option, const PerOutput<T>& values, const OutputSource& source0,
                        const OutputSource& source1, CompareObserver& observer) {
  std::vector<std::string> names;
  for (const auto& entry : values.entries()) names.push_back(entry.first);
  check_output_names(option, names, source0, source1, observer);
}

/// A pair that is ready for numeric comparison.
struct PreparedPair {
  OutputPair pair;  ///< with the second output permuted or reshaped, unless shapes are checked
  std::vector<ShapeStep> steps;
  Obstacle obstacle = Obstacle::kNone;
};
PreparedPair prepare(const OutputPair& pair, bool check_shapes);

/// The result for outputs that cannot be compared; reports it to the observer.
OutputResult incomparable(CompareFunction function, const PreparedPair& prepared, Threshold threshold,
                          CompareObserver& observer);

}  // namespace assay
