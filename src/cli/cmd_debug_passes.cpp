// assay debug passes: which edit of which pass makes an engine's results wrong.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/options/engine_search.h"
#include "debug/pass_search.h"

namespace assay::cli::command_debug_passes {
namespace {

using debug::PassResult;

void add_options(ArgParser& parser) {
  add_engine_search_options(parser,
                            {.candidate = kPlanCandidate,
                             .has_journal = true,
                             .has_jobs = true,
                             .has_repeat = true,
                             .has_replay = false,
                             .without_check = "engines run in this process and the verdict checks them",
                             .journal = "polygraphy_debug.journal"});
  add_in_process_options(parser, "How exact results must be, instead of the verdict:");
}

std::string result_text(const PassResult& r) {
  switch (r.outcome) {
    case PassResult::Outcome::kPasses:
      return "The engine with all edits passes: there is no failure to look for.";
    case PassResult::Outcome::kNotPasses:
      return fmt::format(
          "The passes are not to blame: without any edit the engine fails in the same way ({}). `debug "
          "tactics` "
          "looks at what runs the nodes.",
          r.failure.failure);
    case PassResult::Outcome::kFound:
      break;
  }
  std::string text =
      fmt::format("Edit {} of {} is to blame: one of the pass {}", r.position, r.edits, r.guilty.pass);
  if (!r.guilty.nodes.empty()) text += fmt::format(" at {}", fmt::join(r.guilty.nodes, ", "));
  text += fmt::format(".\nWith it: {}.", r.failure.failure);
  text += fmt::format("\n--max-edits {} stops before it.", r.position - 1);
  text += r.is_alone ? "\nWithout it alone, all other edits made, the engine passes."
                     : "\nWithout it alone the engine still fails: other edits do the same, or build on it.";
  if (r.passes_without)
    text += fmt::format("\nThis leaves it out: --disable-passes {}", r.guilty.pass);
  else
    text += fmt::format("\n--disable-passes {} is not enough: another pass is to blame, too.", r.guilty.pass);
  return text;
}

void save_json(const PassResult& r, size_t checks, const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  const bool is_found = r.outcome == PassResult::Outcome::kFound;
  json.begin_object();
  json.key("result").value(is_found                                    ? "found"
                           : r.outcome == PassResult::Outcome::kPasses ? "passes"
                                                                       : "not the passes");
  json.key("failure").value(r.failure.failure);
  json.key("checks").value(static_cast<uint64_t>(checks));
  json.key("edits").value(static_cast<uint64_t>(r.edits));
  if (is_found) {
    json.key("edit").value(static_cast<uint64_t>(r.position));
    json.key("pass").value(r.guilty.pass);
    json.key("nodes").begin_array();
    for (const std::string& node : r.guilty.nodes) json.value(node);
    json.end_array();
    json.key("alone").value(r.is_alone);
    json.key("options").begin_array();
    if (r.passes_without) json.value("--disable-passes").value(r.guilty.pass);
    json.end_array();
  }
  json.end_object();
  file.commit();
}

int run(CommandContext& context) {
  EngineSearchSetup setup(context);
  const PassResult result = debug::search_passes(setup.search(), setup.observer());
  if (const auto path = context.args().text("--json")) save_json(result, setup.iterations().checks(), *path);
  log::info("{}\n{} check(s) were made.", result_text(result), setup.iterations().checks());
  setup.end();
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "passes",
    .summary = "Find the edit of an engine's passes that makes its results wrong.",
    .description =
        "Builds the engine with its passes stopped after ever other numbers of edits, halving between none "
        "and all, "
        "and names the edit "
        "from which on results are wrong, its pass and its nodes. See docs/guide/debugging.md.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_passes
