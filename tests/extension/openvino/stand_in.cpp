// Stands in for libopenvino_c.so: "models" give back their input x as their output y, in float32. What is
// called goes into the file STAND_IN_CALLS, a model from memory into STAND_IN_MODEL; STAND_IN says what is to
// go wrong. STAND_IN_LACKS leaves a function out that must be there, STAND_IN_OLD one that newer versions
// have.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "api.h"

namespace {

bool is(const char* what) {
  const char* wrong = std::getenv("STAND_IN");
  return wrong != nullptr && std::strcmp(wrong, what) == 0;
}

void record(const std::string& call) {
  const char* path = std::getenv("STAND_IN_CALLS");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", call.c_str());
  std::fclose(file);
}

// dynamic, boolean, bf16, f16, f32, f64, i4, i8, i16, i32, i64, u1, u2, u3, u4, u6, u8, u16, u32, u64
constexpr size_t kBits[] = {0, 8, 16, 16, 32, 64, 4, 8, 16, 32, 64, 1, 2, 3, 4, 6, 8, 16, 32, 64};
constexpr size_t kOtherBits[] = {0, 64, 32, 16, 16, 8, 4, 8, 16, 32, 64, 1, 8, 16, 32, 64, 8, 8, 8, 8};
constexpr ov::ElementType kFloat = 4;

char* copy_of(const char* text) { return ::strdup(text); }

}  // namespace

namespace ov {
struct Core {};
struct Model {};
struct CompiledModel {};
struct Tensor {
  ElementType type = kFloat;
  std::vector<int64_t> dims;
  std::vector<char> data;
};
struct Port {
  bool is_input;
};
struct InferRequest {
  Tensor input;
};
}  // namespace ov

extern "C" {
using namespace ov;

const char* ov_get_error_info(Status) { return "general error"; }
const char* ov_get_last_err_msg() { return copy_of("the stand-in says no\n"); }
#ifndef STAND_IN_LACKS
void ov_free(const char* text) { std::free(const_cast<char*>(text)); }
#endif
Status ov_get_openvino_version(Version* v) {
  *v = {copy_of(is("old") ? "2022.3.0-9052" : "2026.4.1-stand-in"), copy_of("")};
  return 0;
}
void ov_version_free(Version* v) {
  std::free(const_cast<char*>(v->build_number));
  std::free(const_cast<char*>(v->description));
}
Status ov_core_create(Core** core) {
  if (is("no-core")) return -1;
  *core = new Core;
  return 0;
}
void ov_core_free(Core* core) { delete core; }
Status ov_core_read_model(const Core*, const char* path, const char*, Model** model) {
  if (is("no-model")) return -1;
  record(std::string("read ") + path);
  *model = new Model;
  return 0;
}
#ifndef STAND_IN_OLD
Status ov_core_read_model_from_memory_buffer(const Core*, const char* bytes, size_t size,
                                             const Tensor* weights, Model** model) {
  if (is("no-model") || weights != nullptr) return -1;
  record("memory");
  const char* path = std::getenv("STAND_IN_MODEL");
  if (std::FILE* file = path != nullptr ? std::fopen(path, "wb") : nullptr) {
    std::fwrite(bytes, 1, size, file);
    std::fclose(file);
  }
  *model = new Model;
  return 0;
}
#endif
void ov_model_free(Model* model) { delete model; }
Status ov_core_compile_model(const Core*, const Model*, const char* device, size_t count,
                             CompiledModel** compiled, ...) {
  if (std::strcmp(device, "CPU") != 0) return -1;
  std::va_list list;
  va_start(list, compiled);
  for (size_t i = 0; i < count; i += 2) {
    const std::string key = va_arg(list, const char*);
    record(key + "=" + va_arg(list, const char*));
  }
  va_end(list);
  *compiled = new CompiledModel;
  return 0;
}
void ov_compiled_model_free(CompiledModel* model) { delete model; }
Status ov_compiled_model_outputs_size(const CompiledModel*, size_t* n) { return *n = 1, 0; }
Status ov_compiled_model_output_by_index(const CompiledModel*, size_t, Port** port) {
  return *port = new Port{false}, 0;
}
Status ov_compiled_model_input_by_name(const CompiledModel*, const char* name, Port** port) {
  if (std::strcmp(name, "x") != 0) return -1;
  return *port = new Port{true}, 0;
}
Status ov_compiled_model_output_by_name(const CompiledModel*, const char* name, Port** port) {
  if (is("renamed") || std::strcmp(name, "y") != 0) return -1;
  return *port = new Port{false}, 0;
}
Status ov_compiled_model_create_infer_request(const CompiledModel*, InferRequest** request) {
  return *request = new InferRequest, 0;
}
Status ov_port_get_element_type(const Port* port, ElementType* type) {
  *type = is("other-type") && !port->is_input ? 5 : kFloat;
  return 0;
}
void ov_output_const_port_free(Port* port) { delete port; }
Status ov_infer_request_set_tensor_by_const_port(InferRequest* request, const Port*, const Tensor* tensor) {
  request->input = *tensor;
  return 0;
}
Status ov_infer_request_get_tensor_by_const_port(const InferRequest* request, const Port*, Tensor** tensor) {
  *tensor = new Tensor(request->input);
  if (is("short")) (*tensor)->data.resize(1);
  return 0;
}
Status ov_infer_request_infer(InferRequest*) { return is("no-inference") ? -1 : 0; }
void ov_infer_request_free(InferRequest* request) { delete request; }
Status ov_shape_create(int64_t rank, const int64_t* dims, Shape* shape) {
  shape->rank = rank;
  shape->dims = new int64_t[static_cast<size_t>(rank) + 1];
  std::copy(dims, dims + rank, shape->dims);
  return 0;
}
Status ov_shape_free(Shape* shape) {
  delete[] shape->dims;
  *shape = {};
  return 0;
}
Status ov_tensor_create(ElementType type, Shape shape, Tensor** tensor) {
  const size_t* bits = is("other-order") ? kOtherBits : kBits;
  if (type >= std::size(kBits)) return -1;
  size_t elements = 1;
  for (int64_t i = 0; i < shape.rank; ++i) elements *= static_cast<size_t>(shape.dims[i]);
  *tensor = new Tensor{
      type, {shape.dims, shape.dims + shape.rank}, std::vector<char>((elements * bits[type] + 7) / 8)};
  return 0;
}
Status ov_tensor_get_shape(const Tensor* tensor, Shape* shape) {
  return ov_shape_create(static_cast<int64_t>(tensor->dims.size()), tensor->dims.data(), shape);
}
Status ov_tensor_get_element_type(const Tensor* tensor, ElementType* type) { return *type = tensor->type, 0; }
Status ov_tensor_get_byte_size(const Tensor* tensor, size_t* bytes) {
  return *bytes = tensor->data.size(), 0;
}
Status ov_tensor_data(const Tensor* tensor, void** data) {
  return *data = const_cast<char*>(tensor->data.data()), 0;
}
void ov_tensor_free(Tensor* tensor) { delete tensor; }
}
