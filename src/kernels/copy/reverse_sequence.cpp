#include "kernels/copy/reverse_sequence.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"

namespace assay::kernels {

bool reverse_sequences(const SequenceWalk& w, const void* in, const int64_t* lengths, void* out) noexcept {
  for (int64_t s = 0; s < w.sequences; ++s)
    if (lengths[s] < 0 || lengths[s] > w.times) return false;
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  const int64_t across = w.by_sequence ? w.times : w.sequences;
  parallel_for(w.sequences * w.times, std::max<int64_t>(1, 65536 / (static_cast<int64_t>(w.bytes) + 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   const int64_t s = w.by_sequence ? i / across : i % across,
                                 t = w.by_sequence ? i % across : i / across;
                   const int64_t source = t < lengths[s] ? lengths[s] - 1 - t : t;
                   const int64_t step = w.by_sequence ? s * across + source : source * across + s;
                   std::memcpy(to + static_cast<size_t>(i) * w.bytes,
                               from + static_cast<size_t>(step) * w.bytes, w.bytes);
                 }
               });
  return true;
}

}  // namespace assay::kernels
