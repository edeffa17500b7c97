// Import, then export in both forms: what is written can be read again and is the same.
#include "fuzz/targets/models.h"
#include "graph/export.h"
#include "graph/import.h"
#include "graph/to_text.h"

namespace assay::fuzz::target_model_export {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input);
  const std::string bytes = serialize_model(*model);
  const std::string text = to_text(*model);
  try {
    require(serialize_model(*model_of(bytes)) == bytes, ErrorCode::kInternal,
            "written twice it is not the same");
    require(to_text(*parse_text(text, "the text")) == text, ErrorCode::kInternal,
            "the text written twice is not the same");
  } catch (const Error& e) {
    fail(ErrorCode::kInternal, "what was written cannot be read: {}", e.what());
  }
}

}  // namespace

constinit const Target def = model_target("model_export", run);

}  // namespace assay::fuzz::target_model_export
