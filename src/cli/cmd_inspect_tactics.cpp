// assay inspect tactics and diff-tactics: the tactic replay files that Polygraphy's --save-tactics writes.
#include <fmt/format.h>

#include <filesystem>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "run/tactic_replay.h"

namespace assay::cli {
namespace {

void add_tactics_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"tactic_replay"}, .help = "The tactic replay file to show.", .metavar = "FILE"}};
}

int run_tactics(CommandContext& context) {
  std::string text;
  for (const auto& [layer, algorithm] : load_tactic_replay(context.args().text("tactic_replay").value()))
    text += fmt::format("{}Layer: {}\n    Algorithm: {}", text.empty() ? "" : "\n", layer, algorithm.str());
  log::info("{}", text);
  return 0;
}

void add_diff_tactics_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"--dir"},
       .help =
           "A folder with tactic replays in its subfolders `good` and `bad`; default: the working folder.",
       .metavar = "DIR"},
      {.names = {"--good"},
       .help = "A tactic replay of a good engine, or a folder with such files; default: `good` in --dir.",
       .metavar = "PATH"},
      {.names = {"--bad"},
       .help = "A tactic replay of a bad engine, or a folder with such files; default: `bad` in --dir.",
       .metavar = "PATH"},
  };
}

TacticSet load_set(const ParsedArgs& args, const std::string& kind) {
  const std::filesystem::path folder = args.text("--dir").value_or("");
  const std::string path = args.text("--" + kind).value_or((folder / kind).string());
  TacticSet set = load_tactic_set(path);
  log::info("Loaded {} {} tactic replays.", set.paths.size(), kind);
  if (log::enabled(log::Severity::kVerbose)) {
    const std::string title = kind == "good" ? "Good" : "Bad";
    log::verbose("{} tactic replays: {}", title, python_list_repr(set.paths));
  }
  std::error_code ec;
  if (set.paths.empty())
    log::warning("{} {}, so nothing can be told about {} tactics. Use --{} to name others.", path,
                 std::filesystem::exists(path, ec) ? "holds no tactic replay" : "does not exist", kind, kind);
  return set;
}

int run_diff_tactics(CommandContext& context) {
  const TacticSet good = load_set(context.args(), "good");
  const TacticSet bad = load_set(context.args(), "bad");
  const TacticChoices suspects = subtract_tactics(bad.choices, good.choices);
  if (suspects.empty()) {
    log::info(
        "Could not determine potentially bad tactics. Try providing more tactic replay files if possible.");
    return 0;
  }
  log::info("Found potentially bad tactics:");
  for (const auto& [layer, algorithms] : suspects) {
    std::vector<std::string> texts;
    for (const TacticAlgorithm& a : algorithms) texts.push_back(a.str());
    log::info("Layer: {}\n    Algorithms: {}", layer, python_list_repr(texts));
  }
  return 0;
}

}  // namespace

namespace command_inspect_tactics {
constinit const Command def = {
    .name = "tactics",
    .summary = "Show a tactic replay file of Polygraphy.",
    .description = "Shows a tactic replay file of Polygraphy: which algorithm TensorRT took for each layer.",
    .add_options = add_tactics_options,
    .run = run_tactics,
};
}  // namespace command_inspect_tactics

namespace command_inspect_diff_tactics {
constinit const Command def = {
    .name = "diff-tactics",
    .summary = "Find the algorithms that only the tactic replays of bad engines have.",
    .description =
        "Compares tactic replays of good and of bad engines and lists, layer by layer, the algorithms that "
        "no good "
        "engine has.",
    .add_options = add_diff_tactics_options,
    .run = run_diff_tactics,
};
}  // namespace command_inspect_diff_tactics

}  // namespace assay::cli
