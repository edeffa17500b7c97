// Rows that become columns, a few at a time.
#pragma once

#include <cstdint>
#include <cstring>

namespace assay::kernels {

/// to[r * to_row + c] = from[c * from_column + r] for r, c < 4, of elements of 4 bytes.
template <typename T>
void transpose_four(const T* from, int64_t from_column, T* to, int64_t to_row) {
  using Four [[gnu::vector_size(16)]] = uint32_t;
  Four c[4];
  for (int64_t i = 0; i < 4; ++i) std::memcpy(&c[i], from + i * from_column, sizeof(Four));
  const Four low01 = __builtin_shufflevector(c[0], c[1], 0, 4, 1, 5),
             high01 = __builtin_shufflevector(c[0], c[1], 2, 6, 3, 7),
             low23 = __builtin_shufflevector(c[2], c[3], 0, 4, 1, 5),
             high23 = __builtin_shufflevector(c[2], c[3], 2, 6, 3, 7);
  const Four r[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                     __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                     __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                     __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int64_t i = 0; i < 4; ++i) std::memcpy(to + i * to_row, &r[i], sizeof(Four));
}

/// to[r * to_row + c * to_column] = from[c * from_column + r] for r < rows, c < columns.
template <typename T>
void transpose(const T* from, int64_t from_column, T* to, int64_t to_row, int64_t to_column, int64_t rows,
               int64_t columns) {
  int64_t r = 0;
  if constexpr (sizeof(T) == 4)
    if (to_column == 1)
      for (; r + 4 <= rows; r += 4) {
        int64_t c = 0;
        for (; c + 4 <= columns; c += 4)
          transpose_four(from + c * from_column + r, from_column, to + r * to_row + c, to_row);
        for (; c < columns; ++c)
          for (int64_t i = r; i < r + 4; ++i) to[i * to_row + c] = from[c * from_column + i];
      }
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[r * to_row + c * to_column] = from[c * from_column + r];
}

}  // namespace assay::kernels
