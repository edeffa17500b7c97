#include "lint/lint.h"

#include <filesystem>
#include <unordered_set>

#include "base/foreign_file.h"
#include "base/mapped_file.h"
#include "graph/clone.h"
#include "graph/import_message.h"
#include "lint/operators.h"
#include "lint/orphaned_data.h"
#include "lint/single_nodes.h"
#include "lint/structure.h"
#include "naming/selector.h"
#include "onnx/forms/form.h"

namespace assay::lint {
namespace {

class Linter {
 public:
  explicit Linter(const LintOptions& options)
      : options_(options), report_(options.upstream_only, options.on_finding) {
    import_ = options.import;
    if (import_.external_data_dir.empty())
      import_.external_data_dir = std::filesystem::path(options.path).parent_path().string();
  }
  Report run();

 private:
  bool read();
  bool import();
  void override_shapes();
  std::vector<TensorInfo> inputs() const;
  RunOutcome run_backend();

  const LintOptions& options_;
  ImportOptions import_;
  Report report_;
  std::shared_ptr<const void> owner_;
  onnx::ModelMessage message_;
  std::vector<std::string> declared_inputs_;  // those of the file, without repairs
  std::shared_ptr<const void> texts_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<const Model> declared_;  // with the shapes of the file
};

/// False when there is nothing to check.
bool Linter::read() {
  const auto file = MappedFile::open(options_.path);
  if (file->size() == 0) return report_.add(kEmptyFile, {}), false;
  std::string_view bytes = file->bytes();
  owner_ = file;
  try {
    if (const onnx::ModelForm form = onnx::form_of(options_.path, bytes); form != onnx::ModelForm::kBinary) {
      const auto message = std::make_shared<const std::string>(onnx::read_form(form, bytes));
      bytes = *message;
      owner_ = message;
    }
    message_ = onnx::read_model(bytes);
    require(message_.has_graph, ErrorCode::kInvalidModel, "this is not an ONNX model: it has no graph");
  } catch (const Error& e) {
    const std::optional<ForeignFile> known = foreign_file(file->bytes());
    return report_.add(kDamagedFile, {},
                       known ? fmt::format("it is {}. {}", known->what, known->remedy) : e.what()),
           false;
  }
  if (!message_.graph.nodes.empty()) return true;
  report_.add(kNoNodes, {});
  return !options_.upstream_only;
}

bool Linter::import() {
  for (const onnx::ValueInfoMessage& v : message_.graph.inputs) declared_inputs_.emplace_back(v.name);
  if (!import_.ignore_external_data && !options_.upstream_only)
    for (const OrphanedData& o : orphaned_data(message_, import_.external_data_dir))
      report_.add(kOrphanedData, {}, o.bytes, o.file_bytes, o.location);
  StructureCheck structure(
      message_, onnx::ExternalData(import_.external_data_dir, import_.ignore_external_data), report_);
  structure.name_nodes();
  structure.run();
  texts_ = structure.texts();
  try {
    model_ = import_message(message_, owner_, import_);
    return true;
  } catch (const Error& e) {
    report_.add(kNotImportable, {}, e.what());
    return false;
  }
}

/// Sets the user's shapes of inputs, and clears declared types of dependent values.
void Linter::override_shapes() {
  declared_ = model_;
  if (options_.input_shapes.empty()) return;
  // The model that runs has open shapes: with fixed ones a runtime may refuse a branch that is never taken.
  declared_ = clone_model(*model_);
  for (const auto& [name, dims] : options_.input_shapes)
    for (Value* v : select_inputs(*model_, name))
      if (v->type.is_tensor()) v->type.dims = dims;
  for (const auto& v : model_->graph->values())
    if (v->producer() != nullptr) v->type.dims.reset();
  if (!options_.on_input_shapes) return;
  std::vector<TensorInfo> changed;
  for (const Value* v : model_->graph->inputs) changed.push_back({v->name(), v->type});
  options_.on_input_shapes(changed);
}

/// The inputs that data can be made for.
std::vector<TensorInfo> Linter::inputs() const {
  const std::unordered_set<std::string_view> declared(declared_inputs_.begin(), declared_inputs_.end());
  std::vector<TensorInfo> list;
  for (const Value* v : model_->graph->inputs)
    if (v->type.kind != Type::Kind::kUnknown && declared.contains(v->name()))
      list.push_back({v->name(), v->type});
  return list;
}

RunOutcome Linter::run_backend() {
  RunOutcome outcome{.ran_whole = false, .ran_nodes = false, .no_data = {}};
  if (options_.backend == nullptr) return outcome;
  outcome = run_model(declared_,
                      {.backend = options_.backend,
                       .session = options_.session,
                       .inputs = inputs(),
                       .feed = options_.feed,
                       .runs_whole = report_.is_valid()},
                      report_);
  require(outcome.no_data.empty() || !options_.needs_data, ErrorCode::kInvalidArgument, "{}",
          outcome.no_data);
  if (!outcome.no_data.empty() && options_.on_warning)
    options_.on_warning(fmt::format("{} is not asked, as there are no data to run the model on: {}",
                                    options_.backend->human_name, outcome.no_data));
  return outcome;
}

Report Linter::run() {
  if (!read() || !import()) return std::move(report_);
  override_shapes();
  const RunOutcome outcome = run_backend();
  if (!options_.upstream_only) check_operators(*clone_model(*model_), outcome.ran_whole, report_);
  check_unused(*model_->graph, declared_inputs_, report_);
  check_unused_definitions(*model_, report_);
  if (!outcome.ran_nodes)
    for (const Node* n : used_nodes(*model_->graph)) report_.add_passing(n->name);
  return std::move(report_);
}

}  // namespace

Report check_model(const LintOptions& options) { return Linter(options).run(); }

Findings lint_model(const LintOptions& options) { return check_model(options).findings(); }

}  // namespace assay::lint
