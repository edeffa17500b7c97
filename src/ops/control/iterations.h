// The iterations of a loop as data, for runners that can prepare a body once and run it many times.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/tensor.h"

namespace assay {

/// Runs of a body that takes, in this order, the number of the iteration and the condition (a Loop's),
/// carried values, and entries of tensors; its outputs are a condition (a Loop's), the carried values, and
/// entries of stacks.
struct Iterations {
  /// A tensor that the body takes an entry of, along an axis; the first iteration the last entry if
  /// backwards.
  struct Taken {
    Tensor all;
    size_t axis = 0;
    bool backwards = false;
  };
  /// Entries that the body gives, put together along axis 0; the runner makes `all`.
  struct Stacked {
    Tensor all;
    bool backwards = false;
  };

  int64_t trips = 0;            ///< at most; 1 or more
  bool is_loop = false;         ///< number and condition come first
  bool is_asking = false;       ///< the body's condition ends the loop
  std::vector<Tensor> carried;  ///< before the first iteration; once they have run, after the last
  std::vector<Taken> taken;     ///< of `trips` entries or more, of which the first `trips` count
  std::vector<Stacked> stacked;
};

}  // namespace assay
