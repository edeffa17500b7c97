#include "surgeon/prune.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/parallel.h"
#include "base/resident_memory.h"
#include "graph/initializer_data.h"
#include "tensor/scratch_tensor.h"

namespace assay {
namespace {

/// Elements between two releases of resident memory.
constexpr int64_t kReadAtOnce = int64_t{1} << 21;

/// Four rows of `inner` elements each: of every column the two elements of smallest magnitude become zero.
/// Bits without the sign order like magnitudes, NaN last.
template <typename Bits>
void prune_rows(Bits* rows, int64_t inner) {
  for (int64_t i = 0; i < inner; ++i) {
    std::array<Bits, 4> magnitude;
    for (size_t k = 0; k < 4; ++k)
      magnitude[k] = static_cast<Bits>(rows[static_cast<int64_t>(k) * inner + i] << 1);
    for (size_t k = 0; k < 4; ++k) {
      int smaller = 0;
      for (size_t j = 0; j < 4; ++j)
        smaller += magnitude[j] < magnitude[k] || (magnitude[j] == magnitude[k] && j < k);
      if (smaller < 2) rows[static_cast<int64_t>(k) * inner + i] = 0;
    }
  }
}

/// Copies and prunes; four neighbours along the axis are in one of `blocks` blocks of 4 * `inner` elements.
template <typename Bits>
void prune_blocks(const UnalignedTensor& from, ScratchTensor& to, int64_t blocks, int64_t inner) {
  const auto* in = static_cast<const char*>(from.data());
  const bool drops = is_reclaimable(in);
  const auto block_bytes = static_cast<size_t>(4 * inner) * sizeof(Bits);
  const int64_t piece = std::max<int64_t>(1, kReadAtOnce / (4 * inner));
  for (int64_t start = 0; start < blocks; start += piece) {
    const int64_t count = std::min(piece, blocks - start);
    const size_t offset = static_cast<size_t>(start) * block_bytes;
    parallel_for(count, std::max<int64_t>(1, (1 << 16) / (4 * inner)), [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        const size_t at = offset + static_cast<size_t>(b) * block_bytes;
        std::memcpy(to.data() + at, in + at, block_bytes);
        prune_rows(reinterpret_cast<Bits*>(to.data() + at), inner);
      }
    });
    const size_t bytes = static_cast<size_t>(count) * block_bytes;
    to.written_up_to(offset + bytes);
    if (drops) drop_resident_pages(in + offset, bytes);
  }
}

}  // namespace

UnalignedTensor pruned_2_4(const UnalignedTensor& tensor, size_t axis) {
  if (has_2_4_sparsity(tensor, axis)) return tensor;
  const Shape& shape = tensor.shape();
  const int64_t inner = shape.numel(axis + 1, shape.size());
  const int64_t blocks = shape.numel(0, axis) * (shape[axis] / 4);
  ScratchTensor out(tensor.dtype(), shape);
  if (bit_width(tensor.dtype()) == 32)
    prune_blocks<uint32_t>(tensor, out, blocks, inner);
  else
    prune_blocks<uint16_t>(tensor, out, blocks, inner);
  return out.finish();
}

void prune_weights(std::span<const SparsityTarget> targets, WeightObserver* observer) {
  WeightObserver none;
  WeightObserver& told = observer != nullptr ? *observer : none;
  told.on_prune_begin(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    Value& weight = *targets[i].weight;
    told.on_prune(i + 1, targets.size(), weight);
    UnalignedTensor pruned = pruned_2_4(weight.tensor(), targets[i].axis);
    if (pruned.data() != weight.tensor().data()) replace_data(weight, std::move(pruned));
  }
  told.on_prune_end(targets.size());
}

}  // namespace assay
