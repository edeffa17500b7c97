// roundtrip_tool OUT_FOLDER MODEL...: reads every model, copies it, and writes the copy to
// OUT_FOLDER/<number>.onnx.
#include <cstdio>

#include "assay/error.h"
#include "graph/clone.h"
#include "graph/export.h"
#include "graph/import.h"

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 2; i < argc; ++i) {
    try {
      const auto model = assay::clone_model(*assay::load_model(argv[i]));
      assay::save_model(*model, fmt::format("{}/{}.onnx", argv[1], i - 2));
    } catch (const assay::Error& e) {
      std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}
