#include "ops/signal/scalars.h"

namespace assay {

DType read_output_datatype(const OpContext& c) {
  const int64_t number = c.attr_int("output_datatype");
  c.check(is_known_dtype(number), "attribute 'output_datatype' is {}, which is not an element type", number);
  const auto type = static_cast<DType>(number);
  c.check(is_float(type) || is_integer(type), "attribute 'output_datatype' is {}, which is not numeric",
          dtype_name(type));
  return type;
}

int64_t integer_scalar(const EvalContext& c, size_t i, const char* name) {
  c.check(c.input(i).numel() == 1, "input {} has shape {} where a scalar is needed", name, c.shape(i).str());
  return c.input(i).to_int64()[0];
}

double float_scalar(const EvalContext& c, size_t i, const char* name) {
  c.check(c.input(i).numel() == 1, "input {} has shape {} where a scalar is needed", name, c.shape(i).str());
  return c.input(i).data<double>()[0];
}

Dim scalar_extent(const InferContext& c, size_t i) {
  const Dims* extents = c.has_input(i) ? c.input_extents(i) : nullptr;
  return extents != nullptr && extents->size() == 1 ? (*extents)[0] : Dim();
}

}  // namespace assay
