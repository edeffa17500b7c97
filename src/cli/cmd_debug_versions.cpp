// assay debug versions: where two versions of a network, of the program or of a library begin to differ.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "backends/session_info.h"
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/layer_sides.h"
#include "cli/options/iterations.h"
#include "cli/options/runners.h"
#include "cli/registries.h"
#include "convert/convert_opset.h"
#include "debug/command_run.h"
#include "debug/failure_text.h"
#include "debug/journal.h"
#include "debug/opset_search.h"
#include "script/temporary_model.h"

namespace assay::cli::command_debug_versions {
namespace {

constexpr const char* kJournal = "polygraphy_debug.journal";

void add_options(ArgParser& parser, const Registries& registries) {
  add_layer_options(parser, registries);
  parser.add_group("Versions").options = {
      {.names = {"--to-opset"},
       .help = "The model, and the model converted to this opset: which step between opsets changes results.",
       .metavar = "N",
       .kind = ValueKind::kInteger,
       .exclusive = "versions"},
      {.names = {"--against"},
       .help = "Another export of the network: its tensors are found by what they compute.",
       .metavar = "MODEL",
       .exclusive = "versions"},
      {.names = {"--libraries"},
       .help = "Two libraries of the runner, such as of ONNX Runtime: files, folders or Python environments.",
       .arity = Arity::kAtLeastOne,
       .metavar = "PATH",
       .exclusive = "versions"},
      {.names = {"--builds"},
       .help = "Two builds of this program.",
       .arity = Arity::kAtLeastOne,
       .metavar = "PROGRAM",
       .exclusive = "versions"},
      {.names = {"--run-timeout"},
       .help = "For --libraries and --builds: seconds after which a run is ended. Default: none.",
       .metavar = "SECONDS",
       .kind = ValueKind::kNumber},
      layer_json_option(),
  };
  parser.add_group("Resuming").options = {
      {.names = {"--journal"},
       .help =
           "With --to-opset: keep what each opset came to in this file. Default: polygraphy_debug.journal; "
           "it goes "
           "when the search ends.",
       .metavar = "FILE"},
      {.names = {"--resume"}, .help = "Go on with the search that the journal is of.", .arity = Arity::kNone},
  };
  add_tolerance_options(parser);
}

struct Found {
  std::string kind;  ///< opsets, exports, libraries, builds
  debug::DivergenceReport report;
  std::optional<debug::OpsetStep> step;  ///< of opsets, where one changes results
};

RunnerChoice one_runner(const LayerOptions& options) {
  if (options.runners.size() != 1)
    log::critical(
        ErrorCode::kInvalidArgument,
        "debug versions compares two versions on one runner: name one; debug diverge compares runners.");
  return options.runners.front();
}

// ---- Opsets.

/// The opsets of a model that is converted step by step.
class OpsetSearch {
 public:
  OpsetSearch(const CommandContext& context, const LayerOptions& options,
              const debug::LayerTolerance& tolerance)
      : context_(context),
        options_(options),
        tolerance_(tolerance),
        wanted_(*context.args().integer("--to-opset")) {}

  Found run() {
    std::vector<std::string> ignored;
    from_ = load_layers(options_.loading, ignored)->opset();
    open_journal();
    Found found{.kind = "opsets", .report = {}, .step = {}};
    if (from_ == wanted_)
      log::critical(ErrorCode::kInvalidArgument, "{} is in opset {} already: there is nothing to compare.",
                    options_.model.path, wanted_);
    found.step = debug::find_opset_step(from_, wanted_, [&](int64_t opset) { return differs(opset); });
    found.report = found.step ? compare(found.step->from, found.step->to) : compare(from_, wanted_);
    if (!context_.args().has("--journal")) {
      std::error_code failed;
      std::filesystem::remove(journal_->path(), failed);
    }
    return found;
  }

 private:
  void open_journal() {
    const ParsedArgs& args = context_.args();
    const std::string path = args.text("--journal").value_or(kJournal);
    std::string words;
    for (const GivenOption& o : args.occurrences())
      if (o.name != "--resume" && o.name != "--journal" && o.name != "--json")
        words += fmt::format("{} {} ", o.name, fmt::join(o.words, " "));
    const debug::SearchIdentity identity = {{"command", "debug versions"},
                                            {"model", options_.model.path},
                                            {"the model's file", file_identity(options_.model.path)},
                                            {"options", words}};
    journal_ =
        args.has("--resume") ? debug::Journal::resume(path, identity) : debug::Journal::begin(path, identity);
  }

  /// The model converted to this opset.
  LayerSide side(int64_t opset) const {
    LayerOptions options = options_;
    if (opset != from_)
      options.loading.edits.emplace_back([opset](const std::shared_ptr<Model>& model) {
        const ConvertReport report = convert_opset(*model, {.domain = "", .version = opset});
        if (!report.problems.empty())
          fail(ErrorCode::kUnsupported, "it cannot be converted to opset {}: {}", opset,
               report.problems.front().str(opset));
      });
    LayerSide made = live_side(options, options_.model.path, options_.runners.front());
    made.name += fmt::format(" in opset {}", opset);
    return made;
  }

  debug::DivergenceReport compare(int64_t first, int64_t second) const {
    LayerSide a = side(first), b = side(second);
    const std::vector<std::string> outputs = a.outputs;
    return compare_sides(a, b, {.tolerance = tolerance_, .matches_values = true, .outputs = outputs},
                         options_);
  }

  bool differs(int64_t opset) {
    const std::string question = fmt::format("opset {}", opset);
    if (const debug::Answer* known = journal_->find(question)) return !known->passed();
    const bool is_different = !compare(from_, opset).divergences.empty();
    journal_->add(question, {.kind = is_different ? debug::AnswerKind::kFailure : debug::AnswerKind::kPass,
                             .failure = is_different ? "results differ" : ""});
    log::info("Opset {}: {}", opset, is_different ? "results differ" : "the same results");
    return is_different;
  }

  const CommandContext& context_;
  const LayerOptions& options_;
  const debug::LayerTolerance& tolerance_;
  int64_t wanted_, from_ = 0;
  std::optional<debug::Journal> journal_;
};

// ---- Runs of other programs and libraries, in processes of their own.

/// The variable that names a runner's library.
std::string library_variable(const Backend& backend) {
  if (backend.name == "onnxrt") return "ASSAY_ONNXRUNTIME";
  if (std::string_view(backend.name).starts_with("openvino")) return "ASSAY_OPENVINO";
  log::critical(ErrorCode::kInvalidArgument,
                "The runner {} has no library of its own: name one that has, as in --onnxrt.", backend.name);
}

class OtherRuns {
 public:
  OtherRuns(const CommandContext& context, const LayerOptions& options)
      : context_(context), options_(options), runner_(one_runner(options)) {
    side_.model = load_layers(options.loading, side_.outputs);
    file_ = std::make_unique<script::TemporaryModel>(*side_.model);
    folder_ = std::filesystem::path(file_->path()).parent_path();
    std::vector<TensorList> inputs;
    const std::shared_ptr<DataSource> source = options.make_data();
    source->begin(tensor_infos(side_.model->graph->inputs));
    while (std::optional<TensorList> data = source->next()) inputs.push_back(std::move(*data));
    save_inputs(inputs, (folder_ / "inputs.json").string());
  }

  /// The results of the program for every tensor. `environment`: NAME=VALUE.
  LayerSide run(const std::string& program, const std::vector<std::string>& environment,
                const std::string& name) {
    const std::string results = (folder_ / fmt::format("results{}.json", ++runs_)).string();
    std::vector<std::string> words = {"env"};
    words.insert(words.end(), environment.begin(), environment.end());
    for (const std::string& word :
         {program, std::string("run"), file_->path(), flag_of(*runner_.backend), std::string("--load-inputs"),
          (folder_ / "inputs.json").string(), std::string("--save-outputs"), results})
      words.push_back(word);
    for (const GivenOption& o : context_.args().occurrences())
      if (o.name == "--extension") {
        words.push_back(o.name);
        words.insert(words.end(), o.words.begin(), o.words.end());
      }
    log::info("Running {}", name);
    log::flush();
    const debug::CommandResult ended =
        debug::run_command(words, context_.args().number("--run-timeout").value_or(0));
    if (ended.timed_out) log::critical(ErrorCode::kInvalidArgument, "{} did not end in time.", name);
    std::error_code failed;
    if (ended.exit_code != 0 || !std::filesystem::exists(results, failed))
      log::critical(ErrorCode::kInvalidArgument, "{} cannot run the model (exit code {}): {}", name,
                    ended.exit_code, reason_of(ended));
    LayerSide made = saved_side(results, side_.model);
    made.name = name;
    made.outputs = side_.outputs;
    return made;
  }

 private:
  /// The line that tells of the failure, or, without any, the last one.
  static std::string reason_of(const debug::CommandResult& ended) {
    const std::string all = ended.standard_output + "\n" + ended.standard_error;
    const std::string_view telling = debug::telling_line(all);
    return telling.empty() ? last_line(all) : std::string(telling);
  }

  static std::string last_line(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    const size_t at = text.rfind('\n');
    return std::string(at == std::string_view::npos ? text : text.substr(at + 1));
  }

  const CommandContext& context_;
  const LayerOptions& options_;
  RunnerChoice runner_;
  LayerSide side_;
  std::unique_ptr<script::TemporaryModel> file_;
  std::filesystem::path folder_;
  size_t runs_ = 0;
};

std::vector<std::string> two_of(const ParsedArgs& args, const char* option) {
  std::vector<std::string> paths = args.list(option).value_or(std::vector<std::string>());
  if (paths.size() != 2)
    log::critical(ErrorCode::kInvalidArgument, "{} takes two, and {} given.", option,
                  paths.size() == 1 ? "one is" : fmt::format("{} are", paths.size()));
  return paths;
}

std::string own_program() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

/// A variable names a file in the current folder for another program, too.
std::string absolute(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) log::critical(ErrorCode::kNotFound, "{} is not there.", path);
  return std::filesystem::absolute(path, failed).string();
}

Found compare_elsewhere(const CommandContext& context, const LayerOptions& options, bool are_builds,
                        const debug::LayerTolerance& tolerance) {
  const RunnerChoice runner = one_runner(options);
  const std::vector<std::string> paths = two_of(context.args(), are_builds ? "--builds" : "--libraries");
  std::vector<std::string> found;
  for (const std::string& path : paths)
    found.push_back(are_builds ? debug::program_path(path) : absolute(path));
  const std::string variable = are_builds ? "" : library_variable(*runner.backend);
  OtherRuns runs(context, options);
  const auto side = [&](size_t i) {
    const std::string name = fmt::format("{} of {}", runner.human_name, paths[i]);
    if (are_builds) return runs.run(absolute(found[i]), {}, name);
    return runs.run(own_program(), {variable + "=" + found[i]}, name);
  };
  LayerSide first = side(0), second = side(1);
  const std::vector<std::string> outputs = first.outputs;
  return {.kind = are_builds ? "builds" : "libraries",
          .report = compare_sides(
              first, second, {.tolerance = tolerance, .matches_values = false, .outputs = outputs}, options),
          .step = {}};
}

Found compare_exports(const CommandContext& context, const LayerOptions& options,
                      const debug::LayerTolerance& tolerance) {
  const RunnerChoice runner = one_runner(options);
  LayerSide first = live_side(options, options.model.path, runner);
  LayerSide second = live_side(options, *context.args().text("--against"), runner);
  const std::vector<std::string> outputs = first.outputs;
  return {.kind = "exports",
          .report = compare_sides(
              first, second, {.tolerance = tolerance, .matches_values = true, .outputs = outputs}, options),
          .step = {}};
}

Found find(const CommandContext& context, const LayerOptions& options,
           const debug::LayerTolerance& tolerance) {
  const ParsedArgs& args = context.args();
  for (const char* option : {"--journal", "--resume"})
    if (args.has(option) && !args.has("--to-opset"))
      log::critical(ErrorCode::kInvalidArgument, "{} is for --to-opset: the others run each version once.",
                    option);
  if (args.has("--to-opset")) {
    one_runner(options);
    return OpsetSearch(context, options, tolerance).run();
  }
  if (args.has("--against")) return compare_exports(context, options, tolerance);
  if (args.has("--libraries") || args.has("--builds"))
    return compare_elsewhere(context, options, args.has("--builds"), tolerance);
  log::critical(ErrorCode::kInvalidArgument,
                "There is nothing to compare: give --to-opset, --against, --libraries or --builds.");
}

std::string json_of(const Found& found) {
  std::string text = debug::divergence_json(found.report);
  const std::string step =
      found.step ? fmt::format(", \"from_opset\": {}, \"to_opset\": {}", found.step->from, found.step->to)
                 : "";
  return fmt::format("{{\"versions\": \"{}\"{}, \"divergence\": {}}}\n", found.kind, step, text);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const debug::LayerTolerance tolerance = read_tolerance(args);
  const LayerOptions options = read_layer_options(context, ReferencePrecision::kFloat64);
  context.announce();
  const Found found = find(context, options, tolerance);
  if (found.step)
    log::info("The step from opset {} to {} changes results.", found.step->from, found.step->to);
  log::info("{}", divergence_text(found.report));
  if (const auto path = args.text("--json")) save_text("what was found", json_of(found), *path);
  return found.report.divergences.empty() ? 0 : 1;
}

}  // namespace

constinit const Command def = {
    .name = "versions",
    .summary = "Find where two opsets or exports of a network, two builds or two libraries begin to differ.",
    .description =
        "Runs a network in two versions, with every tensor marked, and finds the first node where the "
        "results part "
        "and which of the two errs by the float64 reference: two opsets of it (--to-opset; also the step "
        "that "
        "changes "
        "results), two exports (--against), two libraries of a runner (--libraries), or two builds of this "
        "program "
        "(--builds). The exit code is 1 if anything differs.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_debug_versions
