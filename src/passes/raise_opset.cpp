// A model below opset 7 is converted to opset 7, so that whatever comes later knows one form of each
// operator.
#include "passes/raise_opset.h"

#include "convert/convert_opset.h"
#include "naming/origins.h"
#include "passes/pass_list.h"

namespace assay {

bool raise_opset(Model& model, int64_t opset) {
  const int64_t given = model.opset("");
  if (given <= 0 || given >= opset) return false;
  const auto keep_origins = [](Node& added, const Node& original) {
    set_origins(added, origins_of(original));
  };
  const ConvertReport report = convert_opset(model, {.version = opset, .on_added = keep_origins});
  if (report.problems.empty()) return true;
  std::string sentence = report.problems.front().str(opset);
  sentence.pop_back();  // the error ends it
  Error error(ErrorCode::kUnsupported, sentence);
  throw error.set_remedy("Run it on the reference, or convert the model.");
}

namespace pass_raise_opset {
namespace {

constexpr int64_t kOpset = 7;

bool run(Model& model) { return raise_opset(model, kOpset); }

}  // namespace

constinit const PassDef def = {
    .name = "raise_opset",
    .summary = "a model below opset 7 is converted to opset 7",
    .conditions = "The opset is below 7, and every node can be converted.",
    .run = run,
};

}  // namespace pass_raise_opset
}  // namespace assay
