#include "tensor/room.h"

#include <algorithm>
#include <string>

namespace assay {

int64_t room_of(DType dtype, const Shape& shape) {
  const int64_t bits = dtype == DType::kString ? int64_t{8 * sizeof(std::string)} : int64_t{bit_width(dtype)};
  int64_t elements = 1;
  for (const int64_t d : shape) {
    if (d < 0) (void)shape.numel();  // which throws the error
    if (__builtin_mul_overflow(elements, std::max<int64_t>(d, 1), &elements)) return INT64_MAX;
  }
  return elements > INT64_MAX / std::max<int64_t>(bits, 1) - 8 ? INT64_MAX : (elements * bits + 7) / 8;
}

}  // namespace assay
