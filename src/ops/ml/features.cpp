#include "ops/ml/features.h"

#include "tensor/convert.h"

namespace assay {

Tensor as_numbers(const OpContext& c, size_t i, const Tensor& t) {
  c.check(is_float(t.dtype()) || is_integer(t.dtype()), "input {} is {}; it must be numbers", i,
          dtype_name(t.dtype()));
  return to_float64(t);
}

FeatureShape::FeatureShape(const OpContext& c, const Shape& shape) {
  c.check(shape.rank() == 2 || shape.rank() == 1, "the input has shape {}; it must be [N, F] or [F]",
          shape.str());
  rows = shape.rank() == 2 ? shape[0] : 1;
  count = shape.back();
}

Dim infer_rows(const InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return {};
  c.check(in->size() == 2 || in->size() == 1, "the input has rank {}; it must be [N, F] or [F]", in->size());
  return in->size() == 2 ? (*in)[0] : Dim(1);
}

void infer_score_rows(InferContext& c, Dim columns) {
  c.set_output(0, DType::kFloat32, {infer_rows(c), std::move(columns)});
}

ClassLabels::ClassLabels(const OpContext& c, std::string_view ints, std::string_view strings) {
  const std::vector<int64_t> numbers = c.attr_ints(ints);
  const std::vector<std::string> words = c.attr_strings(strings);
  c.check(numbers.empty() != words.empty(), "exactly one of the attributes '{}' and '{}' must have labels",
          ints, strings);
  labels_ = words.empty() ? Tensor::vector(numbers) : Tensor::vector(words);
}

Tensor ClassLabels::pick(const std::vector<size_t>& indices) const {
  Tensor out = Tensor::zeros(dtype(), {static_cast<int64_t>(indices.size())});
  const auto copy = [&]<typename T>(const T* from, T* to) {
    for (size_t i = 0; i < indices.size(); ++i)
      if (indices[i] != kNoLabel) to[i] = from[indices[i]];
  };
  if (dtype() == DType::kString)
    copy(labels_.data<std::string>(), out.mutable_data<std::string>());
  else
    copy(labels_.data<int64_t>(), out.mutable_data<int64_t>());
  return out;
}

void infer_classifier(InferContext& c, const ClassLabels& labels, Dim columns) {
  const Dim rows = infer_rows(c);
  c.set_output(0, labels.dtype(), {rows});
  c.set_output(1, DType::kFloat32, {rows, std::move(columns)});
}

}  // namespace assay
