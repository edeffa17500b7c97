// The first elements of each sequence backwards: ReverseSequence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// Steps of `bytes` bytes in one piece: [times, sequences] of them, or [sequences, times] where
/// `by_sequence`.
struct SequenceWalk {
  int64_t sequences, times;
  size_t bytes;
  bool by_sequence;
};

/// out = in, but the first lengths[s] steps of each sequence backwards. Returns false, with `out` partly
/// written, unless 0 <= lengths[s] <= times.
bool reverse_sequences(const SequenceWalk& walk, const void* in, const int64_t* lengths, void* out) noexcept;

}  // namespace assay::kernels
