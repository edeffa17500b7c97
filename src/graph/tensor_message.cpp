#include "graph/tensor_message.h"

#include <protozero/pbf_reader.hpp>

#include <algorithm>

#include "onnx/messages.h"

namespace assay {

bool describes(const TensorSource* source, DType dtype, const Shape& shape, const void* data) {
  if (source == nullptr || source->data != data || source->is_sparse) return false;
  const onnx::TensorMessage m = onnx::read_tensor(source->bytes);
  return m.data_type == static_cast<int64_t>(dtype) && Shape(m.dims) == shape;
}

void copy_fields(onnx::MessageWriter& message, std::string_view fields, const std::vector<uint32_t>& but) {
  if (but.empty()) return message.borrowed(fields);
  protozero::pbf_reader r(fields.data(), fields.size());
  for (const char* start = r.data().data(); r.next(); start = r.data().data()) {
    const bool skipped = std::find(but.begin(), but.end(), r.tag()) != but.end();
    r.skip();
    if (!skipped) message.borrowed({start, static_cast<size_t>(r.data().data() - start)});
  }
}

void write_tensor_type(onnx::MessageWriter& message, DType dtype, const Shape& shape) {
  for (const int64_t d : shape) message.integer(1, d);
  message.integer(2, static_cast<int64_t>(dtype));
}

}  // namespace assay
