#include "cli/model_editing.h"

#include <fmt/format.h>

#include "assay/edit.h"
#include "assay/inspect.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/options/onnx_model.h"
#include "run/model_saver.h"

namespace assay::cli {

void log_model(const std::string& title, const Model& model) {
  log::info("{}:\n{}\n\n", title, model_text(model));
}

std::string variable_text(const Value& v) {
  std::string shape = "None", dtype = "None";
  if (v.type.has_shape()) {
    shape = "";
    for (const Dim& d : *v.type.dims)
      shape += (shape.empty() ? "" : ", ") + (d.is_symbol() ? python_str_repr(d.symbol()) : d.str());
    shape = "[" + shape + "]";
  }
  if (v.type.is_tensor()) dtype = dtype_name(v.type.dtype);
  return fmt::format("Variable ({}): (shape={}, dtype={})", v.name(), shape, dtype);
}

void save_edited_model(const ParsedArgs& args, const Model& model) {
  save_onnx_model(model, read_onnx_save_options(args, kOutputOption));
  log_model("New Model", model);
}

}  // namespace assay::cli
