#include "run/shape_fits.h"

namespace assay {

bool shape_fits(const Shape& shape, const std::optional<Dims>& dims) {
  if (!dims) return true;
  if (dims->size() != shape.size()) return false;
  for (size_t i = 0; i < dims->size(); ++i)
    if ((*dims)[i].is_known() && (*dims)[i].value() != shape[i]) return false;
  return true;
}

}  // namespace assay
