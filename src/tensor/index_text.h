// The message for an index out of range.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay {

inline std::string out_of_range_text(int64_t index, int64_t extent, size_t axis) {
  return fmt::format("index {} is out of range for axis {} of extent {}", index, axis, extent);
}

}  // namespace assay
