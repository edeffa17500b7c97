// Runs a plan on numbers by its own rule and prints what comes out, exactly. Built twice: with the lean
// runtime alone, and (ASSAY_WHOLE_LIBRARY) with the whole library, to compare results, sizes and the time
// from the start to the first result.
//
// usage: run_plan PLAN [BUILD_FROM.onnx]  (the second, with the whole library: builds the plan first)
#include <cstdio>
#include <cstring>
#include <exception>

#ifdef ASSAY_WHOLE_LIBRARY
#include "assay/builder.h"
#include "assay/io.h"
#include "assay/runtime.h"
#else
#include "assay/lean_runtime.h"
#endif

namespace {

assay::Tensor filled(assay::DType dtype, const std::vector<int64_t>& dims) {
  std::vector<int64_t> extents = dims;
  for (int64_t& d : extents)
    if (d < 0) d = 1;
  assay::Tensor t = assay::Tensor::zeros(dtype, assay::Shape(extents));
  if (dtype == assay::DType::kFloat32)
    for (int64_t i = 0; i < t.numel(); ++i)
      t.mutable_data<float>()[i] = static_cast<float>(i * 31 % 97) / 40 - 1;
  return t;
}

void print(const std::string& name, const assay::Tensor& t) {
  std::printf("%s", name.c_str());
  for (const int64_t d : t.shape()) std::printf(" %lld", static_cast<long long>(d));
  const auto* bytes = static_cast<const unsigned char*>(t.data());
  unsigned long long sum = 14695981039346656037ULL;
  for (size_t i = 0; i < t.nbytes(); ++i) sum = (sum ^ bytes[i]) * 1099511628211ULL;
  std::printf(": %016llx\n", sum);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) return 2;
  std::vector<assay::Tensor> inputs;
#ifdef ASSAY_WHOLE_LIBRARY
  const assay::Runtime runtime({.threads = 2});
  if (argc > 2) {
    assay::Builder(runtime)
        .build_engine(assay::load_model(argv[2]), {.optimization_level = 0})
        ->save(argv[1]);
    return 0;
  }
  const auto engine = runtime.load_engine(argv[1]);
  for (const assay::IoTensor& i : engine->inputs()) {
    std::vector<int64_t> dims;
    for (const assay::Dim& d : *i.type.dims) dims.push_back(d.is_known() ? d.value() : -1);
    inputs.push_back(filled(i.type.dtype, dims));
  }
  const auto outputs = engine->create_execution_context()->infer(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) print(engine->outputs()[i].name, outputs[i]);
#else
  const auto engine = assay::LeanEngine::load(argv[1], 2);
  for (const auto& i : engine->inputs()) inputs.push_back(filled(i.dtype, i.dims));
  const auto outputs = engine->infer(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) print(engine->outputs()[i].name, outputs[i]);
#endif
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
