// conformance BACKEND FOLDER...: runs ONNX backend test cases and prints one line per case that did not pass.
#include <cstdio>
#include <cstring>

#include "backends/backend_list.h"
#include "run/conformance.h"

int main(int argc, char** argv) {
  using assay::ConformanceResult;
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s reference|reference-stored|engine|onnxrt FOLDER...\n", argv[0]);
    return 2;
  }
  assay::SessionOptions session;
  const char* name = argv[1];
  if (std::strcmp(name, "reference-stored") == 0) {
    session.reference_precision = assay::ReferencePrecision::kStored;
    name = "reference";
  }
  const assay::Backend* backend = assay::find_backend(name);
  if (backend == nullptr) {
    std::fprintf(stderr, "unknown backend %s\n", name);
    return 2;
  }
  int counts[3] = {0, 0, 0};
  for (int i = 2; i < argc; ++i)
    for (const std::string& folder : assay::conformance_cases(argv[i])) {
      const ConformanceResult r = assay::run_conformance_case(folder, *backend, session);
      ++counts[static_cast<int>(r.verdict)];
      if (r.verdict != ConformanceResult::Verdict::kPassed)
        std::printf("%s %s: %s\n", r.verdict == ConformanceResult::Verdict::kFailed ? "FAILED " : "SKIPPED",
                    r.name.c_str(), r.reason.c_str());
    }
  std::printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
  return counts[1] == 0 ? 0 : 1;
}
