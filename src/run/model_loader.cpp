#include "run/model_loader.h"

#include <cmath>

#include "base/log.h"
#include "base/python_repr.h"
#include "graph/export.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "passes/convert_to_float16.h"
#include "passes/mark_outputs.h"

namespace assay {
namespace {

/// No protobuf reader takes a larger message.
constexpr double kLargestMessage = 2e9;
constexpr double kMiB = 1024.0 * 1024.0;

double constant_bytes(const Model& model) {
  double bytes = 0;
  for (const auto& v : model.graph->values()) bytes += static_cast<double>(v->tensor().nbytes());
  return bytes;
}

void infer_what_is_known(Model& model, bool report) {
  if (report) log::verbose("Starting shape inference");
  infer_shapes(model, {.on_problem = [&](const Node& node, const std::string& reason) {
                 if (report) log::warning("Shape inference stops at node {}: {}", node.label(), reason);
               }});
  if (report) log::verbose("Shape inference completed successfully");
}

}  // namespace

bool ModelLoader::changes_model() const {
  const ModelLoaderOptions& o = options_;
  return o.mark_all || o.outputs || o.exclude_outputs || !o.import.external_data_dir.empty() ||
         o.infer_shapes || !o.save_path.empty() || o.convert_to_fp16 || is_text_model(o.path);
}

std::shared_ptr<Model> ModelLoader::read(bool report) const {
  std::shared_ptr<Model> model = load_model(options_.path, options_.import);
  if (options_.infer_shapes) infer_what_is_known(*model, report);
  change_outputs(*model);
  if (options_.convert_to_fp16) {
    if (report) log::info("Converting float tensors to float16");
    convert_to_float16(*model);
  }
  return model;
}

void ModelLoader::change_outputs(Model& model) const {
  try {
    if (options_.mark_all)
      mark_all_outputs(model);
    else if (options_.outputs)
      mark_outputs(model, *options_.outputs);
    if (options_.exclude_outputs) unmark_outputs(model, *options_.exclude_outputs);
  } catch (Error& e) {
    e.add_context("in " + options_.path);
    log::critical(e.code(), "{}", e.what());
  }
}

void ModelLoader::save(const Model& model) const {
  log::info("Saving ONNX model to: {}", options_.save_path);
  ExportOptions out;
  out.external_data = options_.external_data_path.has_value();
  out.external_data_path = options_.external_data_path.value_or("");
  out.one_file_per_tensor = options_.one_file_per_tensor;
  if (options_.external_data_threshold) out.external_data_threshold = *options_.external_data_threshold;
  if (const double bytes = constant_bytes(model); !out.external_data && bytes >= kLargestMessage) {
    out.external_data = true;
    log::warning(
        "Model size ({} MiB) exceeds protobuf size threshold ({} MiB). Will save weight data to an external "
        "file.\n"
        "To control the location of this file, use the `external_data_path` parameter or the "
        "`--external-data-path` "
        "command-line option. ",
        python_float_repr(std::floor(bytes / kMiB)), static_cast<int64_t>(kLargestMessage / kMiB));
  }
  if (out.external_data) {
    log::verbose("Saving external data for ONNX model to: {}", out.external_data_path);
  } else {
    if (options_.external_data_threshold)
      log::warning(
          "size_threshold is set, but external data path has not been set. No external data will be "
          "written.");
    if (options_.one_file_per_tensor)
      log::warning(
          "all_tensors_to_one_file is set, but external data path has not been set. No external data will be "
          "written.");
  }
  save_model(model, options_.save_path, out);
}

ModelSource ModelLoader::load_for(const Backend& backend) {
  const bool is_changed = changes_model();
  const std::string path = is_changed ? "" : options_.path;
  if (is_changed) log::info("Loading model: {}", options_.path);
  if (model_ == nullptr) {
    const std::shared_ptr<Model> model = read(true);
    if (!options_.save_path.empty()) save(*model);
    model_ = model;
  }
  if (backend.reads_files) return {.model = model_, .path = path};
  if (inferred_ == nullptr) {
    const std::shared_ptr<Model> model = read(false);
    if (const std::string unknown = find_unknown_opset(*model); !unknown.empty())
      log::warning("In {}, {}.", options_.path, unknown);
    with_context([&] { return "in " + options_.path; }, [&] { infer_shapes(*model); });
    inferred_ = model;
  }
  return {.model = inferred_, .path = path};
}

}  // namespace assay
