#include <memory>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "run/results.h"
#include "tensor/npy.h"

namespace assay {
namespace {

void write_ndarray(JsonWriter& json, const Tensor& t) {
  json.begin_object();
  json.key("array").begin_base64();
  write_npy(t, [&](const void* data, size_t bytes) { json.base64_chunk(data, bytes); });
  json.end_base64();
  json.key("polygraphy_class").value("ndarray");
  json.end_object();
}

/// Types that NumPy lacks are written as bytes, under a separate class that other readers refuse.
void write_array(JsonWriter& json, const Tensor& t) {
  if (npy_can_hold(t.dtype())) return write_ndarray(json, t);
  json.begin_object();
  json.key("type").value(dtype_name(t.dtype()));
  json.key("shape").begin_array();
  for (size_t d = 0; d < t.shape().size(); ++d) json.value(t.shape()[d]);
  json.end_array();
  json.key("bytes");
  const auto owner = std::make_shared<const Tensor>(t);
  write_ndarray(json, Tensor::view(DType::kUInt8, Shape{static_cast<int64_t>(t.nbytes())}, t.data(), owner));
  json.key("polygraphy_class").value("NarrowArray");
  json.end_object();
}

void write_iteration(JsonWriter& json, const IterationResult& result) {
  json.begin_object();
  json.key("outputs").begin_object();
  for (const auto& [name, tensor] : result.outputs) {
    json.key(name).begin_object();
    json.key("values");
    write_array(json, tensor.load());
    json.key("polygraphy_class").value("LazyArray");
    json.end_object();
  }
  json.end_object();
  json.key("runtime");
  if (result.runtime)
    json.value(*result.runtime);
  else
    json.null();
  json.key("runner_name").value(result.runner_name);
  if (!result.inputs.empty()) json.key("inputs_fingerprint").value(result.inputs);
  json.key("polygraphy_class").value("IterationResult");
  json.end_object();
}

}  // namespace

void save_run_results(const RunResults& results, const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  json.key("lst").begin_array();
  for (const auto& [name, iterations] : results.runners) {
    json.begin_array().value(name).begin_array();
    for (const IterationResult& iteration : iterations) write_iteration(json, iteration);
    json.end_array().end_array();
  }
  json.end_array();
  json.key("polygraphy_class").value("RunResults");
  json.end_object();
  file.commit();
}

namespace {

template <typename List, typename Load>
void write_feed_dict(JsonWriter& json, const List& iteration, Load load) {
  json.begin_object();
  for (const auto& entry : iteration) {
    json.key(entry.name);
    write_array(json, load(entry.tensor));
  }
  json.end_object();
}

}  // namespace

void save_input_iteration(const TensorList& inputs, const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  write_feed_dict(json, inputs, [](const Tensor& t) -> const Tensor& { return t; });
  file.commit();
}

struct InputsWriter::Impl {
  explicit Impl(const std::string& path) : file(path), json(file) { json.begin_array(); }

  template <typename List, typename Load>
  void add(const List& iteration, Load load) {
    write_feed_dict(json, iteration, load);
  }

  AtomicFile file;
  JsonWriter json;
};

InputsWriter::InputsWriter(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
InputsWriter::~InputsWriter() = default;

void InputsWriter::add(const TensorList& iteration) {
  impl_->add(iteration, [](const Tensor& t) -> const Tensor& { return t; });
}
void InputsWriter::add(const StoredTensorList& iteration) {
  impl_->add(iteration, [](const StoredTensor& t) { return t.load(); });
}

void InputsWriter::commit() {
  impl_->json.end_array();
  impl_->file.commit();
}

void save_inputs(const InputData& inputs, const std::string& path) {
  InputsWriter writer(path);
  for (const StoredTensorList& iteration : inputs) writer.add(iteration);
  writer.commit();
}

void save_inputs(const std::vector<TensorList>& inputs, const std::string& path) {
  InputsWriter writer(path);
  for (const TensorList& iteration : inputs) writer.add(iteration);
  writer.commit();
}

}  // namespace assay
