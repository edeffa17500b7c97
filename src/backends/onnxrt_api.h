// The part of ONNX Runtime's C API that we call.
//
// OrtApi is a table of function pointers that only grows at its end, so a function's position is as stable as
// its name (ONNX Runtime, docs/Versioning and the ABI checks of its own source). Declaring the few positions
// here keeps the build free of ONNX Runtime's headers, which Debian 12 does not package.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/dtype.h"

namespace assay::ort {

/// The API version asked for: the first that has every function below (ONNX Runtime 1.12).
inline constexpr uint32_t kApiVersion = 12;

struct Api;
struct ApiBase {
  const Api* (*get_api)(uint32_t version);
  const char* (*version)();
};

// Opaque objects.
struct Status;
struct Env;
struct SessionObject;
struct SessionOptionsObject;
struct RunOptions;
struct Value;
struct MemoryInfo;
struct Allocator;
struct TensorTypeInfo;

/// ONNXType.
enum ValueType : int { kTensorValue = 1, kSequenceValue = 2, kMapValue = 3 };
inline constexpr int kDeviceAllocator = 0, kArenaAllocator = 1, kDefaultMemory = 0;
enum LogLevel : int { kLogVerbose, kLogInfo, kLogWarning, kLogError, kLogFatal };

/// ONNXTensorElementDataType has ONNX's numbers, but those of the last three types: uint2, int2, float8e8m0.
constexpr int element_type_of(DType t) {
  if (t == DType::kFloat8E8M0) return 26;
  const int number = static_cast<int>(t);
  return t == DType::kUInt2 || t == DType::kInt2 ? number - 1 : number;
}
/// The inverse; kUndefined for numbers that stand for no type we know.
constexpr DType dtype_of_element_type(int number) {
  for (int t = 1; t < kDTypeCount; ++t)
    if (element_type_of(static_cast<DType>(t)) == number) return static_cast<DType>(t);
  return DType::kUndefined;
}

/// Calls the function at a position of the table.
template <int kPosition, typename Result, typename... Args>
struct Function {
  Result operator()(const Api* api, Args... args) const {
    using Pointer = Result (*)(Args...);
    return reinterpret_cast<Pointer>(reinterpret_cast<void* const*>(api)[kPosition])(args...);
  }
};
template <int kPosition, typename... Args>
using Fallible = Function<kPosition, Status*, Args...>;
template <int kPosition, typename Object>
using Release = Function<kPosition, void, Object*>;

inline constexpr Function<2, const char*, const Status*> get_error_message;
inline constexpr Fallible<3, LogLevel, const char*, Env**> create_env;
inline constexpr Fallible<7, const Env*, const char*, const SessionOptionsObject*, SessionObject**>
    create_session;
inline constexpr Fallible<8, const Env*, const void*, size_t, const SessionOptionsObject*, SessionObject**>
    create_session_from_array;
inline constexpr Fallible<9, SessionObject*, const RunOptions*, const char* const*, const Value* const*,
                          size_t, const char* const*, size_t, Value**>
    run;
inline constexpr Fallible<10, SessionOptionsObject**> create_session_options;
inline constexpr Fallible<17, SessionOptionsObject*> disable_memory_pattern;
inline constexpr Fallible<22, SessionOptionsObject*, int> set_session_log_severity_level;
inline constexpr Fallible<24, SessionOptionsObject*, int> set_intra_op_threads;
inline constexpr Fallible<25, SessionOptionsObject*, int> set_inter_op_threads;
inline constexpr Fallible<48, Allocator*, const int64_t*, size_t, int, Value**> create_tensor;
inline constexpr Fallible<49, const MemoryInfo*, void*, size_t, const int64_t*, size_t, int, Value**>
    create_tensor_with_data;
inline constexpr Fallible<51, Value*, void**> tensor_data;
inline constexpr Fallible<52, Value*, const char* const*, size_t> fill_string_tensor;
inline constexpr Fallible<53, const Value*, size_t*> string_tensor_length;
inline constexpr Fallible<54, const Value*, void*, size_t, size_t*, size_t> string_tensor_content;
inline constexpr Fallible<60, const TensorTypeInfo*, int*> tensor_element_type;
inline constexpr Fallible<61, const TensorTypeInfo*, size_t*> dimensions_count;
inline constexpr Fallible<62, const TensorTypeInfo*, int64_t*, size_t> dimensions;
inline constexpr Fallible<65, const Value*, TensorTypeInfo**> tensor_type_and_shape;
inline constexpr Fallible<67, const Value*, ValueType*> value_type;
inline constexpr Fallible<69, int, int, MemoryInfo**> create_cpu_memory_info;
inline constexpr Fallible<78, Allocator**> default_allocator;
/// Of a sequence: element i; of a map: its keys (0) and values (1).
inline constexpr Fallible<80, const Value*, int, Allocator*, Value**> get_value;
inline constexpr Fallible<81, const Value*, size_t*> value_count;
inline constexpr Fallible<82, const Value* const*, size_t, ValueType, Value**> create_value;
inline constexpr Release<93, Status> release_status;
inline constexpr Release<94, MemoryInfo> release_memory_info;
inline constexpr Release<95, SessionObject> release_session;
inline constexpr Release<96, Value> release_value;
inline constexpr Release<99, TensorTypeInfo> release_tensor_type;
inline constexpr Release<100, SessionOptionsObject> release_session_options;
inline constexpr Fallible<125, char***, int*> available_providers;
inline constexpr Fallible<126, char**, int> release_available_providers;
inline constexpr Fallible<130, SessionOptionsObject*, const char*, const char*> add_session_config_entry;
inline constexpr Fallible<176, Env*, Allocator*> register_allocator;
/// 0 for an optional without element.
inline constexpr Fallible<192, const Value*, int*> has_value;
inline constexpr Fallible<210, SessionOptionsObject*, const char* const*, const Value* const*, size_t>
    add_external_initializers;
inline constexpr Fallible<216, SessionOptionsObject*, const char*, const char* const*, const char* const*,
                          size_t>
    append_execution_provider;

}  // namespace assay::ort
