// A version of ONNX Runtime with a fault: the library that WRONG_ONNXRUNTIME_OF names, whose runs spoil the
// first element of the output that WRONG_ONNXRUNTIME_TENSOR names.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Function = void (*)();

/// OrtApiBase.
struct Base {
  const Function* (*get_api)(uint32_t version);
  const char* (*version)();
};

// Of the table of version 12, by positions.
constexpr size_t kRun = 9, kGetTensorMutableData = 51, kFunctions = 217;

using Run = void* (*)(void* session, const void* options, const char* const* input_names,
                      const void* const* inputs, size_t input_count, const char* const* output_names,
                      size_t output_count, void** outputs);
using GetData = void* (*)(void* value, void** data);

std::array<Function, kFunctions> functions;
Run run_rightly = nullptr;

void* run_wrongly(void* session, const void* options, const char* const* input_names,
                  const void* const* inputs, size_t input_count, const char* const* output_names,
                  size_t output_count, void** outputs) {
  void* status =
      run_rightly(session, options, input_names, inputs, input_count, output_names, output_count, outputs);
  const char* spoiled = std::getenv("WRONG_ONNXRUNTIME_TENSOR");
  for (size_t i = 0; status == nullptr && spoiled != nullptr && i < output_count; ++i) {
    void* data = nullptr;
    if (std::strcmp(output_names[i], spoiled) != 0) continue;
    status = reinterpret_cast<GetData>(functions[kGetTensorMutableData])(outputs[i], &data);
    if (data != nullptr) *static_cast<float*>(data) += 1;
  }
  return status;
}

const Base* real_base() {
  static const Base* base = [] {
    void* library = dlopen(std::getenv("WRONG_ONNXRUNTIME_OF"), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    return reinterpret_cast<const Base* (*)()>(dlsym(library, "OrtGetApiBase"))();
  }();
  return base;
}

const Function* wrong_api(uint32_t version) {
  const Function* real = real_base()->get_api(version);
  if (real == nullptr) return nullptr;
  std::memcpy(functions.data(), real, sizeof functions);
  run_rightly = reinterpret_cast<Run>(functions[kRun]);
  functions[kRun] = reinterpret_cast<Function>(run_wrongly);
  return functions.data();
}

const char* wrong_version() { return real_base()->version(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const Base* OrtGetApiBase() {
  static const Base base = {wrong_api, wrong_version};
  return &base;
}
