#include "cli/model_editing.h"

#include "assay/edit.h"
#include "assay/inspect.h"
#include "base/log.h"
#include "cli/options/onnx_model.h"
#include "run/model_saver.h"

namespace assay::cli {

void log_model(const std::string& title, const Model& model) {
  log::info("{}:\n{}\n\n", title, model_text(model));
}

void save_edited_model(const ParsedArgs& args, const Model& model) {
  save_onnx_model(model, read_onnx_save_options(args, kOutputOption));
  log_model("New Model", model);
}

}  // namespace assay::cli
