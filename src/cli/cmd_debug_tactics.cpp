// assay debug tactics: which tactic of which region makes an engine's results wrong or flaky.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/options/engine_search.h"
#include "cli/report_page.h"
#include "debug/tactic_search.h"

namespace assay::cli::command_debug_tactics {
namespace {

using debug::TacticResult;

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

/// The words that leave the guilty choices out; empty: nothing was enough.
std::vector<std::string> remedy(const TacticResult& r) {
  std::vector<std::string> words;
  if (!r.disabled.empty()) {
    words.emplace_back("--disable-tactics");
    words.insert(words.end(), r.disabled.begin(), r.disabled.end());
  } else if (!r.pinned.empty()) {
    words.emplace_back("--pin-tactics");
    for (const auto& [node, tactic] : r.pinned) words.push_back(node + "=" + tactic);
  }
  return words;
}

std::string result_text(const TacticResult& r) {
  switch (r.outcome) {
    case TacticResult::Outcome::kPasses:
      return "The engine passes: none of the tactics that this build chose is wrong on these data. `debug "
             "build` "
             "builds again and again, as timing chooses other tactics; the replay of a build that failed is "
             "for "
             "--load-tactics.";
    case TacticResult::Outcome::kNotTactics:
      return fmt::format(
          "The tactics are not to blame: with each node on the reference's own evaluation the engine fails "
          "in the "
          "same way ({}). `debug passes` looks at what was made of the network before.",
          r.failure.failure);
    case TacticResult::Outcome::kFound:
      break;
  }
  std::string text = fmt::format("{} of {} regions {} to blame for the failure ({}):", r.guilty.size(),
                                 r.regions, r.guilty.size() == 1 ? "is" : "are together", r.failure.failure);
  for (const debug::TacticChoice& c : r.guilty)
    text += fmt::format("\n{} at {}", c.algorithm, fmt::join(c.nodes, ", "));
  const std::vector<std::string> words = remedy(r);
  if (words.empty()) return text + "\nTo leave these tactics out is not enough: others are wrong, too.";
  return text +
         fmt::format("\nThis leaves {} out: {}", r.guilty.size() == 1 ? "it" : "them", shell_line(words));
}

void save_json(const TacticResult& r, size_t checks, const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  json.key("result").value(r.outcome == TacticResult::Outcome::kFound    ? "found"
                           : r.outcome == TacticResult::Outcome::kPasses ? "passes"
                                                                         : "not the tactics");
  json.key("failure").value(r.failure.failure);
  json.key("checks").value(static_cast<uint64_t>(checks));
  json.key("regions").value(static_cast<uint64_t>(r.regions));
  json.key("guilty").begin_array();
  for (const debug::TacticChoice& c : r.guilty) {
    json.begin_object().key("tactic").value(c.algorithm).key("nodes").begin_array();
    for (const std::string& node : c.nodes) json.value(node);
    json.end_array().end_object();
  }
  json.end_array();
  json.key("options").begin_array();
  for (const std::string& word : remedy(r)) json.value(word);
  json.end_array().end_object();
  file.commit();
}

void add_table(const TacticResult& r, Report& report) {
  ReportTable table{.title = "Tactics to blame",
                    .note = fmt::format("Of {} regions; the failure: {}", r.regions, r.failure.failure),
                    .columns = {{"node", ReportColumn::Kind::kNode}, {"tactic"}, {"left out by"}}};
  const std::string words = shell_line(remedy(r));
  for (const debug::TacticChoice& c : r.guilty)
    for (const std::string& node : c.nodes) table.rows.push_back({node, c.algorithm, words});
  ReportMetric& blame = report.metric("blame", "to blame", "", ReportMetric::Combine::kMax);
  blame.words = {"no", "yes"};
  for (const debug::TacticChoice& c : r.guilty)
    for (const std::string& node : c.nodes) blame.named.emplace_back(node, "yes");
  report.sections.emplace_back(std::move(table));
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  EngineSearchSetup setup(context);
  const std::string own = setup.side_file(".tactics");
  std::error_code ignored;
  if (!args.has("--resume")) std::filesystem::remove(own, ignored);
  const debug::TacticOptions options{.choices = args.text("--load-tactics").value_or(own)};
  const TacticResult result = debug::search_tactics(setup.search(), options, setup.observer());
  if (const auto path = args.text("--json")) save_json(result, setup.iterations().checks(), *path);
  if (ReportPage* page = context.report_page()) add_table(result, page->report());
  log::info("{}\n{} check(s) were made.", result_text(result), setup.iterations().checks());
  if (!args.has("--journal")) std::filesystem::remove(own, ignored);
  setup.end();
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "tactics",
    .summary = "Find the tactic, and the region, that makes an engine's results wrong or flaky.",
    .description =
        "Builds the engine with some of the tactics that it chose and the reference's own evaluation for the "
        "other "
        "nodes, and names the "
        "tactics and regions that a failure takes. See docs/guide/debugging.md.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_tactics
