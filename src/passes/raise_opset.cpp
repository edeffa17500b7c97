// A model below opset 7 is converted to opset 7, so that whatever comes later knows one form of each
// operator.
#include "convert/convert_opset.h"
#include "passes/origins.h"
#include "passes/pass_list.h"

namespace assay::pass_raise_opset {
namespace {

constexpr int64_t kOpset = 7;

bool run(Model& model) {
  const int64_t opset = model.opset("");
  if (opset <= 0 || opset >= kOpset) return false;
  const auto keep_origins = [](Node& added, const Node& original) {
    set_origins(added, origins_of(original));
  };
  const ConvertReport report = convert_opset(model, {.version = kOpset, .on_added = keep_origins});
  if (report.problems.empty()) return true;
  std::string sentence = report.problems.front().str(kOpset);
  sentence.pop_back();  // the error ends it
  Error error(ErrorCode::kUnsupported, sentence);
  throw error.set_remedy("Run it on the reference, or convert the model.");
}

}  // namespace

constinit const PassDef def = {
    .name = "raise_opset",
    .summary = "a model below opset 7 is converted to opset 7",
    .run = run,
};

}  // namespace assay::pass_raise_opset
