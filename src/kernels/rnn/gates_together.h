// How the gates of a block of hidden units are packed.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Gates whose vectors are stored side by side: all, or two of four where sixteen registers hold the sums of
/// few rows.
constexpr int64_t gates_together(int64_t gates, int64_t lanes) {
  return gates == 4 && lanes < 16 ? 2 : gates;
}

}  // namespace assay::kernels
