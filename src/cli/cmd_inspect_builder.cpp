// assay inspect builder: lists the passes and tactics of the engine's builder.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/registries.h"
#include "engine/tactics/tactic_set.h"
#include "inspect/table_text.h"
#include "ops/op_set.h"
#include "passes/pass_set.h"

namespace assay::cli::command_inspect_builder {
namespace {

using engine::TacticDef;

constexpr size_t kNameColumn = 32;

std::string line(std::string_view name, std::string_view summary) {
  return fmt::format("    {} {}\n", padded(name, kNameColumn), summary);
}

std::string stage_text(const PassSet& passes, std::string_view title, PassStage stage) {
  std::string text = fmt::format("  {}\n", title);
  for (const PassDef* p : passes.stage(stage)) text += line(p->name, p->summary);
  return text;
}

std::string passes_text(const PassSet& passes) {
  return stage_text(passes, "once for each network, and never left out", PassStage::kLowering) +
         stage_text(passes, "once for each network", PassStage::kCanonical) +
         stage_text(passes, "for each set of input shapes", PassStage::kSpecialize) +
         stage_text(passes, "then, where extents stay open", PassStage::kOpen) +
         stage_text(passes, "then", PassStage::kIdioms);
}

/// In the format of docs/reference/simplify.md.
std::string conditions_text(const PassSet& set) {
  std::vector<const PassDef*> passes = set.all();
  std::sort(passes.begin(), passes.end(),
            [](const PassDef* a, const PassDef* b) { return a->name < b->name; });
  std::string text;
  for (const PassDef* p : passes) text += fmt::format("* `{}`: {}\n", p->name, p->conditions);
  return text;
}

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Passes").options = {
      {.names = {"--conditions"},
       .help = "Also say when the edits of each pass hold, those of surgeon sanitize --simplify included.",
       .arity = Arity::kNone}};
}

/// Operators that a tactic names, and those that it serves by their facts.
std::vector<std::string> operators_of(const TacticDef& tactic, const OpSet& ops) {
  std::vector<std::string> names(tactic.operators.begin(), tactic.operators.end());
  for (const OpDef* op : ops.all()) {
    if (tactic.serves == nullptr || !tactic.serves(op->facts)) continue;
    const std::string name =
        op->domain.empty() ? std::string(op->name) : fmt::format("{}.{}", op->domain, op->name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string tactics_text(const engine::TacticSet& tactics, const OpSet& ops) {
  std::string text;
  for (const TacticDef* t : tactics.all()) {
    text += line(t->name, t->summary);
    const std::vector<std::string> operators = operators_of(*t, ops);
    if (!operators.empty()) text += line("", fmt::format("{}", fmt::join(operators, " ")));
  }
  return text;
}

int run(CommandContext& context) {
  const Registries& registries = context.registries();
  log::info("==== Passes (--disable-passes, --max-edits) ====\n{}", passes_text(*registries.passes));
  if (context.args().has("--conditions"))
    log::info("==== When the edits of a pass hold; no others are made ====\n{}",
              conditions_text(*registries.passes));
  log::info("==== Tactics (--disable-tactics, --pin-tactics) ====\n{}",
            tactics_text(*registries.tactics, *registries.ops));
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "builder",
    .summary = "List the passes and tactics of the engine's builder.",
    .description =
        "Lists the passes of the engine's builder in the order in which they run, and its tactics with the "
        "operators that they serve, in the order in which they are asked.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_inspect_builder
