#include "kernels/copy/triangle.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"

namespace assay::kernels {

void copy_triangle(const void* in, void* out, int64_t matrices, int64_t rows, int64_t columns, int64_t k,
                   bool upper, size_t element_bytes) noexcept {
  k = std::clamp(k, -rows, columns);
  const size_t row_bytes = static_cast<size_t>(columns) * element_bytes;
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  parallel_for(matrices * rows, std::max<int64_t>(1, 65536 / (static_cast<int64_t>(row_bytes) + 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   const int64_t diagonal = i % rows + k + (upper ? 0 : 1);
                   const size_t left = static_cast<size_t>(std::clamp<int64_t>(diagonal, 0, columns)) *
                                       element_bytes,
                                at = static_cast<size_t>(i) * row_bytes;
                   const size_t keep = upper ? left : 0, end = upper ? row_bytes : left;
                   std::memset(to + at, 0, keep);
                   std::memcpy(to + at + keep, from + at + keep, end - keep);
                   std::memset(to + at + end, 0, row_bytes - end);
                 }
               });
}

}  // namespace assay::kernels
