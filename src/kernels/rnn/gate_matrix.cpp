#include "kernels/rnn/gate_matrix.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rnn/gate_matrix.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/rnn/gate_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

int64_t lanes_of_gates() { return kGateLanes; }

template <int64_t G>
void add_block(const GateMatrix& m, const float* w, const float* bias, const float* x, int64_t rows,
               float* sums) {
  const F f;
  gate_rows<G>(w, m.k, x, m.k, rows, [&](int64_t row, int64_t count, const float* products) HWY_ATTR {
    for (int64_t r = 0; r < count; ++r) {
      float* const to = sums + (row + r) * m.row_numbers();
      const float* const from = products + r * G * kGateLanes;
      for (int64_t g = 0; g < G; ++g) {
        const VF sum = hn::LoadU(f, from + g * kGateLanes);
        hn::StoreU(bias == nullptr ? sum : hn::Add(sum, hn::LoadU(f, bias + g * kGateLanes)), f,
                   to + g * kGateLanes);
      }
    }
  });
}

/// One block of units for some rows.
void multiply_block(const GateMatrix& m, const float* packed, const float* bias, const float* x, int64_t rows,
                    float* sums, int64_t block) {
  const float* const w = packed + block * m.block_numbers();
  const int64_t at = block * m.gates * m.lanes;
  if (bias != nullptr) bias += at;
  sums += at;
  switch (m.gates) {
    case 1:
      return add_block<1>(m, w, bias, x, rows, sums);
    case 3:
      return add_block<3>(m, w, bias, x, rows, sums);
    case 4:
      return add_block<4>(m, w, bias, x, rows, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(lanes_of_gates);
HWY_EXPORT(multiply_block);

namespace {

/// Rows that a thread takes with one reading of a block.
constexpr int64_t kRowsOfPiece = 96;
/// Products that are worth a thread.
constexpr int64_t kProductGrain = 1 << 16;

}  // namespace

int64_t gate_lanes() noexcept {
  static const int64_t lanes = HWY_DYNAMIC_DISPATCH(lanes_of_gates)();
  return lanes;
}

void pack_gates(const GateMatrix& m, const float* weights, float* packed) noexcept {
  const int64_t side = m.together();
  parallel_for(m.blocks(), 1, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block)
      for (int64_t g = 0; g < m.gates; ++g)
        for (int64_t lane = 0; lane < m.lanes; ++lane) {
          const int64_t unit = block * m.lanes + lane;
          const float* const row = weights + (g * m.units + unit) * m.k;
          float* const to = packed + block * m.block_numbers() + g / side * side * m.k * m.lanes +
                            g % side * m.lanes + lane;
          for (int64_t i = 0; i < m.k; ++i) to[i * side * m.lanes] = unit < m.units ? row[i] : 0.0F;
        }
  });
}

void pack_gate_row(const GateMatrix& m, const float* numbers, const float* more, int64_t more_gates,
                   float* row) noexcept {
  for (int64_t unit = 0; unit < m.padded(); ++unit)
    for (int64_t g = 0; g < m.gates; ++g) {
      float& to = row[(unit / m.lanes * m.gates + g) * m.lanes + unit % m.lanes];
      to = unit < m.units ? numbers[g * m.units + unit] : 0.0F;
      if (unit < m.units && g < more_gates) to += more[g * m.units + unit];
    }
}

void gate_products(const GateMatrix& m, const float* packed, const float* bias, const float* x, int64_t rows,
                   float* sums) noexcept {
  const auto run = HWY_DYNAMIC_DISPATCH(multiply_block);
  const int64_t pieces = (rows + kRowsOfPiece - 1) / kRowsOfPiece, blocks = m.blocks();
  const int64_t products = m.block_numbers() * std::min(rows, kRowsOfPiece);
  parallel_for(pieces * blocks, std::max<int64_t>(1, kProductGrain / std::max<int64_t>(products, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   // All pieces with a block while it is in a cache.
                   const int64_t piece = i % pieces, row = rows * piece / pieces;
                   run(m, packed, bias, x + row * m.k, rows * (piece + 1) / pieces - row,
                       sums + row * m.row_numbers(), i / pieces);
                 }
               });
}

}  // namespace assay::kernels
#endif
