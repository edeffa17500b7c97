#include "graph/initializer_data.h"

#include <memory>
#include <utility>
#include <vector>

#include "graph/tensor_message.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"

namespace assay {
namespace {

Shape shape_of(const Value& v) {
  return v.tensor().defined() ? v.tensor().shape()
                              : known_shape(v.type.dims.value_or(Dims())).value_or(Shape());
}

/// The message that the initializer was read from, without data and the fields in `but`; a new one with name
/// and type if the original is stale.
onnx::MessageWriter fields_without_data(const Value& v, std::vector<uint32_t> but) {
  onnx::MessageWriter w;
  const TensorSource* source = v.tensor_source();
  const void* data = v.tensor().defined() ? v.tensor().data() : nullptr;
  if (!describes(source, v.type.dtype, shape_of(v), data)) {
    write_tensor_type(w, v.type.dtype, shape_of(v));
    w.text(tensor_field::kName, v.name());
    return w;
  }
  but.insert(but.end(), tensor_field::kDataAndPlaces);
  copy_fields(w, source->bytes, but);
  return w;
}

std::shared_ptr<const TensorSource> make_source(const onnx::MessageWriter& message, const void* data) {
  auto bytes = std::make_shared<const std::string>(message.bytes());
  return std::make_shared<const TensorSource>(TensorSource{*bytes, bytes, data, false, false});
}

}  // namespace

void replace_data(Value& initializer, UnalignedTensor data) {
  require(initializer.type.dtype == data.dtype() && shape_of(initializer) == data.shape(),
          ErrorCode::kInternal, "'{}' of type {} and shape {} was given data of another", initializer.name(),
          dtype_name(initializer.type.dtype), shape_of(initializer).str());
  const onnx::MessageWriter fields = fields_without_data(initializer, {});
  initializer.set_tensor(std::move(data));
  initializer.set_tensor_source(make_source(fields, initializer.tensor().data()));
}

void strip_data(Value& initializer, std::string_view doc_string) {
  onnx::MessageWriter fields = fields_without_data(initializer, {tensor_field::kDocString});
  fields.text(tensor_field::kRawData, {});
  fields.text(tensor_field::kDocString, doc_string);
  const std::shared_ptr<const TensorSource> source = make_source(fields, nullptr);
  initializer.type = Type::tensor(initializer.type.dtype, shape_of(initializer));
  initializer.clear_tensor();
  initializer.set_missing();
  initializer.set_tensor_source(source);
  // The doc string of a graph input is separate.
  if (!initializer.is_overridable) initializer.doc_string = doc_string;
}

bool is_weightless(const Value& initializer) {
  const TensorSource* source = initializer.tensor_source();
  return initializer.is_constant() && !initializer.tensor().defined() && source != nullptr &&
         !source->is_sparse && onnx::is_weightless(onnx::read_tensor(source->bytes));
}

std::string tensor_doc_string(const Value& initializer) {
  const TensorSource* source = initializer.tensor_source();
  if (source == nullptr || source->is_sparse) return {};
  return std::string(onnx::read_tensor(source->bytes).doc_string);
}

}  // namespace assay
