// What all comparison functions check before they look at values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/outputs.h"
#include "compare/tolerance.h"

namespace assay {

/// Warns about names and patterns in a per-output option that fit no output of either source, and suggests the
/// nearest. `option` is its name in the message:
/// `rtol`.
void warn_about_extra_names(std::string_view option, const std::vector<std::string>& names,
                            const OutputSource& source0, const OutputSource& source1);
template <typename T>
void warn_about_extra_names(std::string_view option, const PerOutput<T>& values, const OutputSource& source0,
                            const OutputSource& source1) {
  std::vector<std::string> names;
  for (const auto& entry : values.entries()) names.push_back(entry.first);
  warn_about_extra_names(option, names, source0, source1);
}

/// Says that shapes are not checked, if they are not.
void announce_shape_check(bool check_shapes);

/// The pair with outputs of equal shape: as it is, or, unless shapes are checked, with the second output
/// permuted or reshaped. Nothing, after logging why, when the shapes stay different.
std::optional<OutputPair> with_equal_shapes(const OutputPair& pair, bool check_shapes);

/// Logs why outputs of such types cannot be compared as numbers; true when they can.
bool check_numeric(const OutputPair& pair);

}  // namespace assay
