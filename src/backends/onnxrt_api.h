// The part of ONNX Runtime's C API that we call.
//
// OrtApi is a table of function pointers that only grows at its end, so a function's position is as stable as
// its name (ONNX Runtime, docs/Versioning and the ABI checks of its own source). onnxrt_slots.def has the few
// positions, so that the build does not need ONNX Runtime's headers, which Debian 12 does not package. If
// there are headers (Debian 13: libonnxruntime-dev), this file's test compares them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/dtype.h"

namespace assay::ort {

/// The requested API version: the first that has every function below (ONNX Runtime 1.12).
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

/// ONNXTensorElementDataType has ONNX's numbers, except for the last three types: uint2, int2, float8e8m0.
constexpr int element_type_of(DType t) {
  if (t == DType::kFloat8E8M0) return 26;
  const int number = static_cast<int>(t);
  return t == DType::kUInt2 || t == DType::kInt2 ? number - 1 : number;
}
/// The inverse; kUndefined for unknown numbers.
constexpr DType dtype_of_element_type(int number) {
  for (int t = 1; t < kDTypeCount; ++t)
    if (element_type_of(static_cast<DType>(t)) == number) return static_cast<DType>(t);
  return DType::kUndefined;
}

/// Positions of the functions in the table OrtApi.
enum class Slot : int {
#define ASSAY_ORT_SLOT(name, number) k##name = number,
#include "backends/onnxrt_slots.def"
#undef ASSAY_ORT_SLOT
};

/// Calls a function of the table.
template <Slot kSlot, typename Result, typename... Args>
struct Function {
  Result operator()(const Api* api, Args... args) const {
    using Pointer = Result (*)(Args...);
    return reinterpret_cast<Pointer>(reinterpret_cast<void* const*>(api)[static_cast<int>(kSlot)])(args...);
  }
};
template <Slot kSlot, typename... Args>
using Fallible = Function<kSlot, Status*, Args...>;
template <Slot kSlot, typename Object>
using Release = Function<kSlot, void, Object*>;

inline constexpr Function<Slot::kGetErrorMessage, const char*, const Status*> get_error_message;
/// Receives the library's log: parameter, level, category, identifier, source location, message.
using LogFunction = void (*)(void*, LogLevel, const char*, const char*, const char*, const char*);
inline constexpr Fallible<Slot::kCreateEnvWithCustomLogger, LogFunction, void*, LogLevel, const char*, Env**>
    create_env;
inline constexpr Fallible<Slot::kCreateSession, const Env*, const char*, const SessionOptionsObject*,
                          SessionObject**>
    create_session;
inline constexpr Fallible<Slot::kCreateSessionFromArray, const Env*, const void*, size_t,
                          const SessionOptionsObject*, SessionObject**>
    create_session_from_array;
inline constexpr Fallible<Slot::kRun, SessionObject*, const RunOptions*, const char* const*,
                          const Value* const*, size_t, const char* const*, size_t, Value**>
    run;
inline constexpr Fallible<Slot::kCreateRunOptions, RunOptions**> create_run_options;
/// May be called while a run with these options goes on: it ends soon.
inline constexpr Fallible<Slot::kRunOptionsSetTerminate, RunOptions*> terminate_run;
inline constexpr Fallible<Slot::kCreateSessionOptions, SessionOptionsObject**> create_session_options;
inline constexpr Fallible<Slot::kDisableMemPattern, SessionOptionsObject*> disable_memory_pattern;
inline constexpr Fallible<Slot::kSetSessionLogSeverityLevel, SessionOptionsObject*, int>
    set_session_log_severity_level;
inline constexpr Fallible<Slot::kSetSessionGraphOptimizationLevel, SessionOptionsObject*, int>
    set_session_graph_optimization_level;
inline constexpr Fallible<Slot::kSetIntraOpNumThreads, SessionOptionsObject*, int> set_intra_op_threads;
inline constexpr Fallible<Slot::kSetInterOpNumThreads, SessionOptionsObject*, int> set_inter_op_threads;
inline constexpr Fallible<Slot::kCreateTensorAsOrtValue, Allocator*, const int64_t*, size_t, int, Value**>
    create_tensor;
inline constexpr Fallible<Slot::kCreateTensorWithDataAsOrtValue, const MemoryInfo*, void*, size_t,
                          const int64_t*, size_t, int, Value**>
    create_tensor_with_data;
inline constexpr Fallible<Slot::kGetTensorMutableData, Value*, void**> tensor_data;
inline constexpr Fallible<Slot::kFillStringTensor, Value*, const char* const*, size_t> fill_string_tensor;
inline constexpr Fallible<Slot::kGetStringTensorDataLength, const Value*, size_t*> string_tensor_length;
inline constexpr Fallible<Slot::kGetStringTensorContent, const Value*, void*, size_t, size_t*, size_t>
    string_tensor_content;
inline constexpr Fallible<Slot::kGetTensorElementType, const TensorTypeInfo*, int*> tensor_element_type;
inline constexpr Fallible<Slot::kGetDimensionsCount, const TensorTypeInfo*, size_t*> dimensions_count;
inline constexpr Fallible<Slot::kGetDimensions, const TensorTypeInfo*, int64_t*, size_t> dimensions;
inline constexpr Fallible<Slot::kGetTensorTypeAndShape, const Value*, TensorTypeInfo**> tensor_type_and_shape;
inline constexpr Fallible<Slot::kGetValueType, const Value*, ValueType*> value_type;
inline constexpr Fallible<Slot::kCreateCpuMemoryInfo, int, int, MemoryInfo**> create_cpu_memory_info;
inline constexpr Fallible<Slot::kGetAllocatorWithDefaultOptions, Allocator**> default_allocator;
/// Of a sequence: element i; of a map: its keys (0) and values (1).
inline constexpr Fallible<Slot::kGetValue, const Value*, int, Allocator*, Value**> get_value;
inline constexpr Fallible<Slot::kGetValueCount, const Value*, size_t*> value_count;
inline constexpr Fallible<Slot::kCreateValue, const Value* const*, size_t, ValueType, Value**> create_value;
inline constexpr Release<Slot::kReleaseStatus, Status> release_status;
inline constexpr Release<Slot::kReleaseMemoryInfo, MemoryInfo> release_memory_info;
inline constexpr Release<Slot::kReleaseSession, SessionObject> release_session;
inline constexpr Release<Slot::kReleaseValue, Value> release_value;
inline constexpr Release<Slot::kReleaseRunOptions, RunOptions> release_run_options;
inline constexpr Release<Slot::kReleaseTensorTypeAndShapeInfo, TensorTypeInfo> release_tensor_type;
inline constexpr Release<Slot::kReleaseSessionOptions, SessionOptionsObject> release_session_options;
inline constexpr Fallible<Slot::kGetAvailableProviders, char***, int*> available_providers;
inline constexpr Fallible<Slot::kReleaseAvailableProviders, char**, int> release_available_providers;
inline constexpr Fallible<Slot::kAddSessionConfigEntry, SessionOptionsObject*, const char*, const char*>
    add_session_config_entry;
inline constexpr Fallible<Slot::kRegisterAllocator, Env*, Allocator*> register_allocator;
/// 0 for an optional without element.
inline constexpr Fallible<Slot::kHasValue, const Value*, int*> has_value;
inline constexpr Fallible<Slot::kAddExternalInitializers, SessionOptionsObject*, const char* const*,
                          const Value* const*, size_t>
    add_external_initializers;
inline constexpr Fallible<Slot::kSessionOptionsAppendExecutionProvider, SessionOptionsObject*, const char*,
                          const char* const*, const char* const*, size_t>
    append_execution_provider;

}  // namespace assay::ort
