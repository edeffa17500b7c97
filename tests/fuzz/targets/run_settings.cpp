#include "assay/error.h"
#include "fuzz/targets/target.h"
#include "poly/run_json.h"

namespace assay::fuzz::target_run_settings {
namespace {

/// Settings that were read are written the same way again, and read back.
void run(std::string_view input) {
  const poly::RunSettings settings = poly::parse_run_settings(input, "run.json");
  const std::string text = poly::run_settings_text(settings);
  require(poly::run_settings_text(poly::parse_run_settings(text, "run.json")) == text, ErrorCode::kInternal,
          "settings are read otherwise than written");
}

std::vector<std::string> seeds() {
  return {
      R"({"version": 1, "settings": {}})",
      R"({"version": 1, "settings": {"data.seed": 7, "validate": true, "engine.calibration_quantile": 0.5,
          "model.outputs": ["y"], "model.save_external_data": "", "memory_limit": 1000000,
          "runners": [{"backend": "engine"}, {"script": "r.py:Mine", "options": {"a": "b"}}],
          "log": {"verbosity": ["INFO"], "colors": false}, "session.graph_optimization_level": 99}})",
      R"({"version": 1, "settings": {"data.shapes": {"x": [1, -1, "n"]}, "data.ranges": {"": {"low": 0, "high": 1.5}},
          "data.float_range": {"high": Infinity}, "engine.profiles": [{"min": {"x": [1]}, "max": {"x": [9]}}],
          "engine.tensor_types": {"x": "float16"}, "engine.config.pinned_tactics": {"a": "gemv"},
          "engine.config.layer_types": [{"layers": "a", "precision": "int8"}, {"layers": "b", "outputs": ["", "float32"]}]}})",
      R"({"version": 1, "settings": {"extensions.options": {"--mine": ["a"]}, "postprocess": {"top_k": {"y": [3, -1]}},
          "compare_funcs": [{"function": "simple", "atol": {"y": 1, "": 1e-3}, "check_error_stat": "max",
          "error_quantile": 0.5}, {"function": "indices", "index_tolerance": 2}, {"function": "psnr", "threshold": 30}],
          "session.reference_precision": "stored", "engine.calibration_algorithm": "legacy"}})",
  };
}

constexpr std::string_view kWords[] = {"\"version\"", "\"settings\"", "null", "true", "NaN",
                                       "-Infinity",   "1e999",        "{",    "[",    "\\udc80",
                                       "\"\"",        "-1",           "re:(", "op:"};

}  // namespace

extern const Target def;
const Target def = {.name = "run_settings", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_run_settings
