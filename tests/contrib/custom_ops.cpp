// A library of operators for ONNX Runtime: TwicePlusOne of the domain test.ops, on float32. ONNX Runtime's
// header is not needed: its table of functions only grows, and the places of those that are called are known
// (src/backends/onnxrt_api.h).
#include <cstddef>
#include <cstdint>

namespace {

using Api = void* const;  // the table
struct ApiBase {
  Api* (*get_api)(uint32_t version);
  const char* (*version)();
};

template <typename... Args>
void* call(Api* api, int place, Args... args) {
  return reinterpret_cast<void* (*)(Args...)>(api[place])(args...);
}
constexpr int kTensorData = 51, kShapeCount = 64, kTypeAndShape = 65, kCreateDomain = 26, kAddOp = 27,
              kAddDomain = 28, kKernelInput = 90, kKernelOutput = 91, kDimensionCount = 61, kDimensions = 62,
              kReleaseTypeAndShape = 99;
constexpr int kFloat = 1;

Api* g_api = nullptr;

/// OrtCustomOp, as far as version 12 has it.
struct CustomOp {
  uint32_t version = 12;
  void* (*create_kernel)(const CustomOp*, Api*, const void*) =
      [](const CustomOp*, Api*, const void*) -> void* { return reinterpret_cast<void*>(1); };
  const char* (*name)(const CustomOp*) = [](const CustomOp*) -> const char* { return "TwicePlusOne"; };
  const char* (*provider)(const CustomOp*) = [](const CustomOp*) -> const char* { return nullptr; };
  int (*input_type)(const CustomOp*, size_t) = [](const CustomOp*, size_t) { return kFloat; };
  size_t (*input_count)(const CustomOp*) = [](const CustomOp*) -> size_t { return 1; };
  int (*output_type)(const CustomOp*, size_t) = [](const CustomOp*, size_t) { return kFloat; };
  size_t (*output_count)(const CustomOp*) = [](const CustomOp*) -> size_t { return 1; };
  void (*compute)(void*, void*) = [](void*, void* context) {
    const void* input = nullptr;
    void *shape = nullptr, *output = nullptr;
    float *from = nullptr, *to = nullptr;
    size_t rank = 0, count = 0;
    int64_t dims[8] = {};
    call(g_api, kKernelInput, context, size_t{0}, &input);
    call(g_api, kTypeAndShape, input, &shape);
    call(g_api, kDimensionCount, shape, &rank);
    call(g_api, kDimensions, shape, dims, rank);
    call(g_api, kShapeCount, shape, &count);
    call(g_api, kReleaseTypeAndShape, shape);
    call(g_api, kKernelOutput, context, size_t{0}, dims, rank, &output);
    call(g_api, kTensorData, const_cast<void*>(input), &from);
    call(g_api, kTensorData, output, &to);
    for (size_t i = 0; i < count; ++i) to[i] = 2 * from[i] + 1;
  };
  void (*destroy)(void*) = [](void*) {};
  int (*input_kind)(const CustomOp*, size_t) = [](const CustomOp*, size_t) { return 0; };
  int (*output_kind)(const CustomOp*, size_t) = [](const CustomOp*, size_t) { return 0; };
};

const CustomOp g_op;

}  // namespace

extern "C" __attribute__((visibility("default"))) void* RegisterCustomOps(void* options,
                                                                          const ApiBase* base) {
  g_api = base->get_api(12);
  void* domain = nullptr;
  if (void* status = call(g_api, kCreateDomain, "test.ops", &domain)) return status;
  if (void* status = call(g_api, kAddOp, domain, static_cast<const void*>(&g_op))) return status;
  return call(g_api, kAddDomain, options, domain);
}
