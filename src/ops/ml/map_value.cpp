#include "ops/ml/map_value.h"

#include "base/article.h"
#include "ops/value_type.h"

namespace assay {

MapValue::MapValue(const EvalContext& c) {
  const Tensor& map = c.input(0);
  c.check(map.dtype() == DType::kMap, "the input is {}; it must be a map",
          with_article(dtype_name(map.dtype())));
  keys = map.elements()[0];
  values = map.elements()[1];
  c.check(!values.is_container() && !is_packed(values.dtype()),
          "the map holds {}s; it must hold numbers or strings", dtype_name(values.dtype()));
}

DType infer_map_values(const InferContext& c) {
  const Type& type = c.input_type(0);
  c.check(type.kind == Type::Kind::kUnknown || type.kind == Type::Kind::kMap,
          "the input is {}; it must be a map", type.str());
  return leaf_dtype(type);
}

}  // namespace assay
