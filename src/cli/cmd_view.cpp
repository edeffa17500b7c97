// assay view: models, plans and what other commands saved, as one page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "assay/io.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "cli/command.h"
#include "cli/option_paths.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/page_output.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "inspect/damaged_payload.h"
#include "inspect/layer_table.h"
#include "inspect/page_server.h"
#include "inspect/viewer_match.h"
#include "run/model_loader.h"
#include "run/results.h"

namespace assay::cli::command_view {
namespace {

constexpr size_t kMostGraphs = 2;

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"paths"},
       .help = "A model, a plan, or both, or two models to compare; and files about them: results (run "
               "--save-outputs), a verdict (run --save-verdict), a profile, a trace or measurements (bench "
               "--export-profile, --export-timeline, --json), findings (check lint -o), differences.",
       .arity = Arity::kAtLeastOne},
      {.names = {"--external-data-dir", "--load-external-data", "--ext"},
       .help = "Folder of the models' external data, if they are not next to each model.",
       .metavar = "DIR"},
      {.names = {"--weights"},
       .help = "Show histograms and heat maps of the weights, too. All of them are read for it.",
       .arity = Arity::kNone},
  };
  parser.add_group("Page").options = {
      {.names = {"-o", "--output"},
       .help = "Save the page to this file: one file, which needs no network. Without it, the page is at "
               "http://127.0.0.1:PORT/ until Ctrl+C.",
       .metavar = "FILE.html"},
      {.names = {"--port"},
       .help = "The port of the page; 0: any free one. The default is 8000.",
       .metavar = "PORT",
       .kind = ValueKind::kInteger}};
}

enum class FileKind : uint8_t { kModel, kPlan, kSaved };
struct File {
  std::string path;
  FileKind kind = FileKind::kModel;
  SavedKind saved = SavedKind::kVerdict;
};

File file_of(const std::string& path) {
  std::error_code ec;
  if (std::filesystem::is_regular_file(path, ec)) {
    const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    if (const std::optional<SavedKind> saved = saved_kind(file->bytes()))
      return {path, FileKind::kSaved, *saved};
    if (content_of_ending(path) == Content::kTrace) {
      Error e(ErrorCode::kUnsupported, fmt::format("{} is a timeline in Perfetto's form", path));
      throw e.set_remedy("Perfetto shows it; a timeline with the ending .json can be shown here.");
    }
  }
  const std::string type = model_type_of(path);
  if (type == "engine") return {path, FileKind::kPlan};
  require(
      type == "onnx" || type.empty(), ErrorCode::kUnsupported,
      "{} is a model of type {}; what can be shown are ONNX models, plans, and files that this program saved",
      path, type);
  return {path, FileKind::kModel};
}

class Viewing {
 public:
  Viewing(const ParsedArgs& args, const Registries& registries) : args_(args), registries_(registries) {}

  void add(const File& file) {
    if (file.kind == FileKind::kPlan) return add_plan(file.path);
    if (file.kind == FileKind::kModel) return add_model(file.path);
    if (file.saved == SavedKind::kResults) return add_results(file.path);
    log::info("Loading {} from {}", kind_text(file.saved), file.path);
    const std::shared_ptr<const MappedFile> mapped = MappedFile::open(file.path);
    add_saved(page_.report(), file.saved, mapped->bytes(), file.path);
    has_report_ = true;
  }

  /// Connects what has been added.
  void finish();
  const ReportPage& page() const { return page_; }
  /// Something is shown only in part.
  bool is_damaged() const { return is_damaged_; }

 private:
  void add_plan(const std::string& path);
  void add_model(const std::string& path);
  void show_model(const std::shared_ptr<Model>& model, const std::string& path);
  bool show_without_data(const std::string& path, ImportOptions options, const Error& problem);
  void add_results(const std::string& path);
  void add_range(const std::string& name, const TensorPicture& picture);
  void add_weights(const Graph& graph);

  const ParsedArgs& args_;
  const Registries& registries_;
  ReportPage page_;
  std::vector<std::shared_ptr<Model>> models_;
  std::shared_ptr<Engine> engine_;
  bool has_report_ = false, is_damaged_ = false;
};

void Viewing::add_plan(const std::string& path) {
  log::info("Loading bytes from {}", path);
  RuntimeOptions options = registries_.for_runtime();
  options.threads = 1;
  options.on_warning = [](const std::string&) {};
  engine_ = Runtime(std::move(options)).load_engine(path);
  page_.show(engine_, path);
  add_plan_tables(*engine_, page_.report());
}

void Viewing::show_model(const std::shared_ptr<Model>& model, const std::string& path) {
  infer_known_shapes(*model, /*report=*/false);
  if (args_.has("--weights")) add_weights(*model->graph);
  models_.push_back(model);
  page_.show(model, path);
}

/// The structure of a model whose external data are missing or wrong.
bool Viewing::show_without_data(const std::string& path, ImportOptions options, const Error& problem) {
  options.ignore_external_data = true;
  std::shared_ptr<Model> model;
  try {
    model = load_model(path, options);
  } catch (const Error&) {
    return false;
  }
  is_damaged_ = true;
  log::error("{}", problem.what());
  log::warning("Showing the model without its external data.");
  show_model(model, path);
  return true;
}

void Viewing::add_model(const std::string& path) {
  log::info("Loading model: {}", path);
  ImportOptions options{.external_data_dir = args_.text("--external-data-dir").value_or(""),
                        .ops = registries_.ops};
  try {
    show_model(load_model(path, options), path);
  } catch (const Error& e) {
    const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    if (show_without_data(path, options, e)) return;
    // The readable part is shown, with the error in its place.
    const std::optional<DamagedModel> damaged = read_damaged_model(file->bytes(), e.what());
    if (!damaged) throw;
    is_damaged_ = true;
    log::error("{}", e.what());
    log::warning("Showing what can be read: {} node(s).", damaged->nodes.size());
    if (damaged->place)
      page_.report()
          .metric("problem", "problem", "", ReportMetric::Combine::kMax)
          .named.emplace_back(fmt::format("node_{}", *damaged->place), "here");
    page_.show([damaged = *damaged, path](JsonWriter& json) { write_damaged_payload(json, damaged, path); });
  }
}

void Viewing::add_range(const std::string& name, const TensorPicture& picture) {
  if (picture.counts.empty()) return;
  page_.report()
      .metric("range", "largest magnitude", "", ReportMetric::Combine::kMax)
      .numbers.emplace_back(name, std::max(std::abs(picture.min), std::abs(picture.max)));
}

/// Of the first iteration of every runner.
void Viewing::add_results(const std::string& path) {
  log::info("Loading results from {}", path);
  const RunResults results = load_run_results(path);
  ReportTable table{.title = "Results",
                    .columns = {{"tensor", ReportColumn::Kind::kNode},
                                {"runner"},
                                {"least", ReportColumn::Kind::kNumber},
                                {"largest", ReportColumn::Kind::kNumber},
                                {"mean", ReportColumn::Kind::kNumber},
                                {"deviation", ReportColumn::Kind::kNumber},
                                {"NaN", ReportColumn::Kind::kNumber},
                                {"infinite", ReportColumn::Kind::kNumber}}};
  for (const auto& [runner, iterations] : results.runners) {
    if (iterations.empty()) continue;
    for (const auto& [name, stored] : iterations.front().outputs) {
      const Tensor tensor = stored.load();
      if (!can_picture(tensor)) continue;
      TensorPicture p = picture_of(tensor, runner);
      add_range(name, p);
      table.rows.push_back({name, runner, p.min, p.max, p.mean, p.deviation, p.nan, p.infinite});
      page_.report().tensors[name].push_back(std::move(p));
    }
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    const auto broken = [](const auto& row) { return std::get<int64_t>(row[6]) + std::get<int64_t>(row[7]); };
    return broken(a) > broken(b);
  });
  page_.report().sections.emplace_back(std::move(table));
  has_report_ = true;
}

void Viewing::add_weights(const Graph& graph) {
  for (const auto& v : graph.values()) {
    if (!v->is_constant() || !v->tensor().defined()) continue;
    const Tensor tensor = v->tensor().aligned();
    if (can_picture(tensor)) page_.report().tensors[v->name()].push_back(picture_of(tensor, "weights"));
  }
}

void Viewing::finish() {
  Report& report = page_.report();
  if (models_.size() == 2) report.matching = match_models(*models_[0], *models_[1]);
  if (models_.size() == 1 && engine_ != nullptr) report.matching = match_plan(*engine_);
  report.title = has_report_ || engine_ != nullptr ? "Report" : "";
}

void show(const ParsedArgs& args, const ReportPage& page) {
  const auto write = [&](const PageSink& sink) { page.write(sink); };
  const auto path = args.text("-o");
  if (!path) return serve_page(write, page_port(args, "--port"), "--port", random_token());
  save_page(*path, write);
  log::info("Page saved to {}", *path);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  page_port(args, "--port");
  std::vector<File> files;
  const std::vector<std::string> paths = args.list("paths").value();
  for (const std::string& path : paths) files.push_back(file_of(path));
  // Models first: the graph of a plan stands next to that of its model.
  std::stable_sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.kind < b.kind; });
  const auto graphs =
      std::count_if(files.begin(), files.end(), [](const File& f) { return f.kind != FileKind::kSaved; });
  require(static_cast<size_t>(graphs) <= kMostGraphs, ErrorCode::kInvalidArgument,
          "{} graphs were given; a page shows one, or two side by side", graphs);
  Viewing viewing(args, context.registries());
  for (const File& file : files) viewing.add(file);
  viewing.finish();
  show(args, viewing.page());
  return viewing.is_damaged() ? 1 : 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "view",
    .summary = "Show models, plans and what other commands saved in a browser.",
    .description =
        "Shows a model or the plan of an engine as a graph that folds by scopes, with searches, colours by "
        "cost and by what "
        "other commands found out, tables, timelines and pictures of tensors; two models, or a model and its "
        "plan, side by "
        "side. One page, which needs no network. Of a damaged model it shows what can be read, and the exit "
        "code is 1.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_view
