// A pointwise program over a whole domain: broadcasting, element types and threads around interpret_tile().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assay/shape.h"
#include "kernels/pointwise/operand.h"
#include "kernels/pointwise/program.h"

namespace assay::kernels {

/// Whether elements of this type in memory may go into a register of this type, and come from one: those of
/// its own type; float16 and bfloat16 into float32, and so may bytes. Stored as bytes, float32 rounds and
/// saturates (convert.h).
bool fits_register(DType type, DType reg);

/// Temporaries, operands and results of one program together.
inline constexpr int kMaxPointwiseRegisters = 24;

class QuantizedPair;

/// Evaluates a program for every point of a domain. Results are row-major over the domain. Immutable: may be
/// shared.
class PointwiseLoop {
 public:
  /// Throws Error (kInternal) when the numbers of operands and strides do not match, types do not fit their
  /// registers, or the program needs more than kMaxPointwiseRegisters registers.
  PointwiseLoop(PointwiseProgram program, const Shape& domain, std::vector<PointwiseOperand> operands,
                std::vector<DType> results);

  /// The only result of a program may be the very buffer of an operand of its type that covers the domain
  /// densely.
  void run(std::span<const void* const> operands, std::span<void* const> results) const noexcept;

 private:
  struct Tile;
  void check_types() const;
  void collapse(const Shape& domain);
  void find_pair();
  bool is_dense(const PointwiseOperand& o) const;
  void run_pair(const char* a, const char* b, char* q) const;
  void run_tiles(std::span<const void* const> operands, std::span<void* const> results, int64_t first,
                 int64_t last) const;
  Tile locate(int64_t index) const;
  int64_t outer_offset(const PointwiseOperand& o, int64_t outer) const;

  PointwiseProgram program_;
  /// The program's meaning, where one operand is stored as the result is, and the other one is as well, is
  /// one row for all of the first one's, or one number for each of them.
  std::shared_ptr<const QuantizedPair> pair_;
  size_t pair_first_ = 0, pair_second_ = 0;  // the operands
  std::vector<PointwiseOperand> operands_;
  std::vector<DType> results_;
  std::vector<int64_t> outer_;      // extents outside the two inner dimensions
  int64_t rows_ = 1, columns_ = 1;  // the two inner dimensions
  int64_t most_elements_ = 0;       // of a tile
  int64_t tile_rows_ = 1, tile_columns_ = 1;
  int64_t row_tiles_ = 1, column_tiles_ = 1, tiles_ = 0;
};

}  // namespace assay::kernels
