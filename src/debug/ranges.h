// Positions in a few characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace assay::debug {

/// Of ascending positions: "0-3,7".
std::string ranges_text(std::span<const size_t> positions);

}  // namespace assay::debug
