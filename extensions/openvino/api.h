// The part of OpenVINO's C interface that the module uses, declared here so that no header of OpenVINO is
// needed. Each group names the header that has it (OpenVINO 2023.0 and later, src/bindings/c/include).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ov {

// openvino/c/ov_common.h. Of the codes only zero, success, matters. The numbers of the element types differ
// from version to version: Library measures them.
using Status = int32_t;
using ElementType = uint32_t;

// Things of the library's.
struct Core;           // ov_core_t, openvino/c/ov_core.h
struct Model;          // ov_model_t, openvino/c/ov_model.h
struct CompiledModel;  // ov_compiled_model_t, openvino/c/ov_compiled_model.h
struct InferRequest;   // ov_infer_request_t, openvino/c/ov_infer_request.h
struct Tensor;         // ov_tensor_t, openvino/c/ov_tensor.h
struct Port;           // ov_output_const_port_t, openvino/c/ov_node.h

struct Shape {  // ov_shape_t, openvino/c/ov_shape.h
  int64_t rank;
  int64_t* dims;
};
struct Version {  // ov_version_t, openvino/c/ov_core.h
  const char* build_number;
  const char* description;
};

/// The functions, by the names that they have in the library. X(result, name, parameters).
#define ASSAY_OPENVINO_FUNCTIONS(X)                                                                        \
  /* openvino/c/ov_common.h */                                                                             \
  X(const char*, ov_get_error_info, (Status))                                                              \
  X(const char*, ov_get_last_err_msg, ())                                                                  \
  X(void, ov_free, (const char*))                                                                          \
  /* openvino/c/ov_core.h */                                                                               \
  X(Status, ov_get_openvino_version, (Version*))                                                           \
  X(void, ov_version_free, (Version*))                                                                     \
  X(Status, ov_core_create, (Core**))                                                                      \
  X(void, ov_core_free, (Core*))                                                                           \
  X(Status, ov_core_read_model, (const Core*, const char*, const char*, Model**))                          \
  X(Status, ov_core_compile_model, (const Core*, const Model*, const char*, size_t, CompiledModel**, ...)) \
  /* openvino/c/ov_model.h */                                                                              \
  X(void, ov_model_free, (Model*))                                                                         \
  /* openvino/c/ov_compiled_model.h */                                                                     \
  X(Status, ov_compiled_model_outputs_size, (const CompiledModel*, size_t*))                               \
  X(Status, ov_compiled_model_input_by_name, (const CompiledModel*, const char*, Port**))                  \
  X(Status, ov_compiled_model_output_by_index, (const CompiledModel*, size_t, Port**))                     \
  X(Status, ov_compiled_model_output_by_name, (const CompiledModel*, const char*, Port**))                 \
  X(Status, ov_compiled_model_create_infer_request, (const CompiledModel*, InferRequest**))                \
  X(void, ov_compiled_model_free, (CompiledModel*))                                                        \
  /* openvino/c/ov_node.h */                                                                               \
  X(Status, ov_port_get_element_type, (const Port*, ElementType*))                                         \
  X(void, ov_output_const_port_free, (Port*))                                                              \
  /* openvino/c/ov_infer_request.h */                                                                      \
  X(Status, ov_infer_request_set_tensor_by_const_port, (InferRequest*, const Port*, const Tensor*))        \
  X(Status, ov_infer_request_get_tensor_by_const_port, (const InferRequest*, const Port*, Tensor**))       \
  X(Status, ov_infer_request_infer, (InferRequest*))                                                       \
  X(void, ov_infer_request_free, (InferRequest*))                                                          \
  /* openvino/c/ov_shape.h */                                                                              \
  X(Status, ov_shape_free, (Shape*))                                                                       \
  /* openvino/c/ov_tensor.h */                                                                             \
  X(Status, ov_tensor_create, (ElementType, Shape, Tensor**))                                              \
  X(Status, ov_tensor_get_shape, (const Tensor*, Shape*))                                                  \
  X(Status, ov_tensor_get_element_type, (const Tensor*, ElementType*))                                     \
  X(Status, ov_tensor_get_byte_size, (const Tensor*, size_t*))                                             \
  X(Status, ov_tensor_data, (const Tensor*, void**))                                                       \
  X(void, ov_tensor_free, (Tensor*))

/// ov_core_read_model_from_memory_buffer of openvino/c/ov_core.h: OpenVINO 2023.1 and later have it. The
/// weights are in the message where the third argument is null.
using ReadModelFromMemory = Status (*)(const Core*, const char*, size_t, const Tensor*, Model**);

}  // namespace ov
