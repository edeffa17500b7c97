#include "run/model_saver.h"

#include <cmath>

#include "analysis/held_types.h"
#include "base/diagnostics.h"
#include "base/python_repr.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/export.h"

namespace assay {
namespace {

/// No protobuf reader takes a larger message.
constexpr double kLargestMessage = 2e9;
constexpr double kMiB = 1024.0 * 1024.0;

/// The format has no shape of unknown rank, and the standard's checker takes no output without a shape.
void warn_of_open_ranks(const Model& model) {
  std::string names;
  for (const Value* v : model.graph->outputs)
    if (v->type.is_tensor() && !v->type.has_shape()) names += (names.empty() ? "'" : ", '") + v->name() + "'";
  if (!names.empty())
    diag::verbose(
        "The rank of {} is not known before the model runs, so the file does not say it: "
        "onnx.checker refuses such outputs, while ONNX-Runtime and this program run them.",
        names);
}

}  // namespace

void save_onnx_model(const Model& given, const ModelSaveOptions& options) {
  // A network script's requests for its layers are for the builder, not for the file.
  std::shared_ptr<Model> plain;
  if (has_held_types(given)) remove_held_types(*(plain = clone_model(given)));
  const Model& model = plain != nullptr ? *plain : given;
  diag::info("Saving ONNX model to: {}", options.path);
  ExportOptions out;
  out.external_data = options.external_data_path.has_value();
  out.external_data_path = options.external_data_path.value_or("");
  out.one_file_per_tensor = options.one_file_per_tensor;
  if (options.external_data_threshold) out.external_data_threshold = *options.external_data_threshold;
  if (const auto bytes = static_cast<double>(inner_data_bytes(model, options.path));
      !out.external_data && bytes >= kLargestMessage) {
    out.external_data = true;
    diag::warning(
        "Model size ({} MiB) exceeds protobuf size threshold ({} MiB). Will save weight data to an external "
        "file.\n{}",
        python_float_repr(std::floor(bytes / kMiB)), static_cast<int64_t>(kLargestMessage / kMiB),
        say(Say::kExternalDataPath));
  }
  if (out.external_data) {
    diag::verbose("Saving external data for ONNX model to: {}", out.external_data_path);
  } else {
    if (options.external_data_threshold)
      diag::warning(
          "size_threshold is set, but external data path has not been set. No external data will be "
          "written.");
    if (options.one_file_per_tensor)
      diag::warning(
          "all_tensors_to_one_file is set, but external data path has not been set. No external data will be "
          "written.");
  }
  save_model(model, options.path, out);
  warn_of_open_ranks(model);
}

}  // namespace assay
