// Polygraphy's search over precisions: how many of the first, or last, layers must run in a higher one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace assay::debug {

enum class MarkerMode : uint8_t {
  kBisect,  ///< halves the range between the most that failed and the least that passed; begins with all
  kLinear,  ///< one layer more each time; begins with none
};

/// Asked with the number of marked layers, and about how many questions remain; whether that passes.
using MarkerCheck = std::function<bool(size_t marked, size_t remaining)>;

/// The least number of `layers` that passes, as far as the mode can tell; nothing where none does.
std::optional<size_t> search_marker(size_t layers, MarkerMode mode, const MarkerCheck& passes);

}  // namespace assay::debug
