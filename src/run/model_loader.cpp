#include "run/model_loader.h"

#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/wording.h"
#include "graph/topological_scope.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "transform/convert_to_float16.h"
#include "transform/mark_outputs.h"

namespace assay {

std::string backend_name(const Backend& backend) {
  return say(Say::kNameBackend, {std::string(backend.option)});
}

void infer_known_shapes(Model& model, bool report) {
  const TopologicalScope sorted(model);
  if (report) diag::verbose("Starting shape inference");
  infer_shapes(model, {.on_problem = [&](const Node& node, const std::string& reason) {
                 if (report) diag::warning("Shape inference stops at node {}: {}", node.label(), reason);
               }});
  if (report) diag::verbose("Shape inference completed successfully");
}

bool ModelLoader::changes_model() const {
  const ModelLoaderOptions& o = options_;
  if (o.is_plan || !o.foreign_format.empty()) return false;
  return o.make || o.mark_all || o.outputs || !o.output_types.empty() || o.exclude_outputs ||
         !o.import.external_data_dir.empty() || o.infer_shapes || !o.edits.empty() || !o.save.path.empty() ||
         o.convert_to_fp16 || is_text_model(o.path);
}

std::shared_ptr<Model> ModelLoader::read(bool report) const {
  std::shared_ptr<Model> model = options_.make ? options_.make() : load_model(options_.path, options_.import);
  for (const auto& edit : options_.edits)
    with_context([&] { return file_place(options_.path); }, [&] { edit(model); });
  if (options_.infer_shapes) infer_known_shapes(*model, report);
  // Named outputs keep their type through the conversion; with all outputs marked they are the converted
  // tensors, so that errors are traced through each.
  if (options_.mark_all) {
    note_outputs(*model);
    // Values inside local functions are shown, too.
    if (!model->functions.empty())
      with_context([&] { return file_place(options_.path); },
                   [&] { pass_inline_functions::def.run(*model); });
  } else {
    change_outputs(*model);
    note_outputs(*model);
  }
  if (options_.convert_to_fp16) {
    if (report) diag::info("Converting float tensors to float16");
    convert_to_float16(*model);
  }
  if (options_.mark_all) change_outputs(*model);
  return model;
}

void ModelLoader::note_outputs(const Model& model) const {
  own_outputs_.clear();
  for (const Value* v : model.graph->outputs) own_outputs_.push_back(v->name());
}

void ModelLoader::change_outputs(Model& model) const {
  try {
    if (options_.mark_all)
      mark_all_outputs(model);
    else if (options_.outputs)
      mark_outputs(model, *options_.outputs);
    if (!options_.output_types.empty() && !options_.mark_all)
      mark_outputs_by_type(model, options_.output_types, /*add=*/options_.outputs.has_value());
    if (options_.exclude_outputs) unmark_outputs(model, *options_.exclude_outputs);
  } catch (const ExpectedError&) {
    throw;
  } catch (Error& e) {
    e.add_context(file_place(options_.path));
    throw ExpectedError(e);
  }
}

ModelSource ModelLoader::load_for(const Backend& backend) {
  if (given_ != nullptr) return {.model = given_, .path = {}};
  if (!options_.foreign_format.empty()) {
    require(backend.takes_any_file, ErrorCode::kInvalidArgument,
            "{} is a model of type {}, {}: {} needs the ONNX model", options_.path, options_.foreign_format,
            say(Say::kForeignRunners), backend_name(backend));
    return {.model = nullptr, .path = options_.path};
  }
  if (options_.is_plan) {
    require(backend.loads_plans || backend.takes_any_file, ErrorCode::kInvalidArgument,
            "{} is a plan, {}: {} needs the ONNX model", options_.path, say(Say::kPlanRunners),
            backend_name(backend));
    return {.model = nullptr, .path = options_.path};
  }
  const bool is_changed = changes_model();
  const std::string path = is_changed ? "" : options_.path;
  if (is_changed) diag::info("Loading model: {}", options_.path);
  // Backends that do not read files get their own model with inferred types.
  if (model_ == nullptr && (backend.reads_files || !options_.save.path.empty())) {
    const std::shared_ptr<Model> model = read(true);
    if (options_.check) options_.check(*model);
    if (!options_.save.path.empty()) save_onnx_model(*model, options_.save);
    model_ = model;
  }
  if (backend.reads_files) return {.model = model_, .path = path};
  if (inferred_ == nullptr) {
    const std::shared_ptr<Model> model = read(model_ == nullptr);
    if (options_.check && model_ == nullptr) options_.check(*model);
    if (const std::string unknown = find_unknown_opset(*model); !unknown.empty())
      diag::warning("In {}, {}.", options_.path, unknown);
    with_context([&] { return file_place(options_.path); },
                 [&] {
                   if (!model->functions.empty()) pass_inline_functions::def.run(*model);
                   infer_shapes(*model);
                 });
    inferred_ = model;
  }
  return {.model = inferred_, .path = path};
}

}  // namespace assay
