// Folds a model as the real GraphSurgeon would with fold_constants().cleanup(); fold_bench.py times it.
//
//     fold_tool INPUT.onnx OUTPUT.onnx
#include <fmt/core.h>

#include "assay/edit.h"
#include "assay/fold.h"
#include "assay/io.h"

int main(int argc, char** argv) try {
  assay::require(argc == 3, assay::ErrorCode::kInvalidArgument, "usage: fold_tool INPUT.onnx OUTPUT.onnx");
  const std::shared_ptr<assay::Model> model = assay::load_model(argv[1]);
  const assay::FoldReport report = assay::fold_constants(*model);
  const int64_t removed = assay::cleanup(*model);
  assay::save_model(*model, argv[2]);
  fmt::print("{} folded, {} Ifs flattened, {} Casts elided, {} removed\n", report.folded_nodes,
             report.flattened_ifs, report.elided_casts, removed);
  for (const auto& kept : report.too_large) fmt::print("too large: {}: {}\n", kept.node, kept.reason);
  for (const auto& kept : report.failed) fmt::print("failed: {}: {}\n", kept.node, kept.reason);
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
