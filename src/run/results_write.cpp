#include <fmt/format.h>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "run/results.h"
#include "tensor/npy.h"

namespace assay {
namespace {

/// Fails before a tensor is fetched that no file can hold.
void check_type(const std::string& name, DType dtype) {
  if (npy_can_hold(dtype)) return;
  Error e(ErrorCode::kUnsupported,
          fmt::format("the tensor '{}' has type {}, which NumPy lacks and so the file format", name,
                      dtype_name(dtype)));
  e.set_remedy("Cast it to float32 in the model.");
  throw e;
}

void write_array(JsonWriter& json, const Tensor& t) {
  json.begin_object();
  json.key("array").begin_base64();
  write_npy(t, [&](const void* data, size_t bytes) { json.base64_chunk(data, bytes); });
  json.end_base64();
  json.key("polygraphy_class").value("ndarray");
  json.end_object();
}

void write_iteration(JsonWriter& json, const IterationResult& result) {
  json.begin_object();
  json.key("outputs").begin_object();
  for (const auto& [name, tensor] : result.outputs) {
    check_type(name, tensor.dtype());
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

struct InputsWriter::Impl {
  explicit Impl(const std::string& path) : file(path), json(file) { json.begin_array(); }

  template <typename List, typename Load>
  void add(const List& iteration, Load load) {
    json.begin_object();
    for (const auto& entry : iteration) {
      check_type(entry.name, entry.tensor.dtype());
      json.key(entry.name);
      write_array(json, load(entry.tensor));
    }
    json.end_object();
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
