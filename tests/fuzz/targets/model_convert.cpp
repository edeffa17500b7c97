// Import, then conversion to another opset, which the input's size and first byte choose; what comes out is
// importable.
#include <functional>

#include "convert/convert_opset.h"
#include "fuzz/targets/models.h"
#include "graph/export.h"
#include "ops/op_set.h"

namespace assay::fuzz::target_model_convert {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input);
  const size_t choice = std::hash<std::string_view>()(input);
  const char* domain = model->opset("") != 0 ? "" : "ai.onnx.ml";
  const int64_t newest = built_in_ops().newest_opset(domain);
  const ConvertReport report = convert_opset(
      *model, {.domain = domain, .version = 1 + static_cast<int64_t>(choice % static_cast<size_t>(newest))});
  if (!report.problems.empty()) return;
  const std::string bytes = serialize_model(*model);
  try {
    model_of(bytes);
  } catch (const Error& e) {
    fail(ErrorCode::kInternal, "what was converted cannot be read: {}", e.what());
  }
}

}  // namespace

constinit const Target def = model_target("model_convert", run);

}  // namespace assay::fuzz::target_model_convert
