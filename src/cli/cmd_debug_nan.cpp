// assay debug nan: where NaN and infinities come from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_debug.h"
#include "cli/options/layers.h"
#include "cli/registries.h"
#include "debug/non_finite.h"
#include "debug/places.h"
#include "run/output_recorder.h"

namespace assay::cli::command_debug_nan {
namespace {

using debug::NonFiniteElement;
using debug::NonFiniteOrigin;

void add_options(ArgParser& parser, const Registries& registries) {
  add_layer_options(parser, registries);
  parser.add_group("Report").options = {layer_json_option()};
}

std::string count_text(const debug::NonFiniteCount& count) {
  std::string text;
  if (count.nan > 0) text = fmt::format("{} NaN", count.nan);
  if (count.infinite > 0) text += fmt::format("{}{} infinite", text.empty() ? "" : " and ", count.infinite);
  return fmt::format("{} of {} element(s)", text, count.elements);
}

std::string operand_text(const debug::ElementOperand& operand) {
  if (operand.index)
    return fmt::format("{} = {}", debug::place_text(operand.tensor, *operand.index),
                       format_g(operand.value, 6));
  return fmt::format("{} from {} to {}", operand.tensor, format_g(operand.least, 6),
                     format_g(operand.largest, 6));
}

std::string element_text(const std::string& tensor, const NonFiniteElement& element) {
  std::string text =
      fmt::format("{} = {}", debug::place_text(tensor, element.index), format_g(element.value, 6));
  if (!element.reason.empty()) text += ": " + element.reason;
  std::vector<std::string> operands;
  for (const debug::ElementOperand& operand : element.operands) operands.push_back(operand_text(operand));
  if (!operands.empty()) text += fmt::format("\n    of {}", fmt::join(operands, ", "));
  return text;
}

std::string fate_text(const NonFiniteOrigin& origin) {
  std::string text = fmt::format("{} tensor(s) behind it hold what became of it.", origin.carriers);
  for (const NonFiniteOrigin::Reached& reached : origin.outputs)
    text += fmt::format("\nIt reaches the output {}: {}.", reached.output, count_text(reached.count));
  if (origin.outputs.empty()) text += "\nIt reaches no output.";
  for (const NonFiniteOrigin::End& end : origin.ends)
    text += fmt::format("\nIt ends at node {}, which {}.", end.node, end.how);
  if (origin.end_count > origin.ends.size())
    text += fmt::format("\nIt ends at {} more node(s).", origin.end_count - origin.ends.size());
  return text;
}

std::string origin_text(const NonFiniteOrigin& origin) {
  std::string text = origin.kind == NonFiniteOrigin::Kind::kMade
                         ? fmt::format("Node {} makes it of finite operands.", origin.node)
                         : fmt::format("Node {} makes NaN of operands that hold infinities.", origin.node);
  text += fmt::format("\n{} ({}): {}, in {} iteration(s), first in iteration {}.", origin.tensor,
                      dtype_name(origin.dtype), count_text(origin.count), origin.iterations,
                      origin.first_iteration);
  for (const NonFiniteElement& element : origin.elements) text += "\n" + element_text(origin.tensor, element);
  if (const auto& body = origin.in_body) {
    text += fmt::format("\nIn its body, run {}, it is node {}.", body->run, body->node);
    for (const NonFiniteElement& element : body->elements) text += "\n" + element_text(body->tensor, element);
  }
  return text + "\n" + fate_text(origin);
}

std::string line_of(const NonFiniteOrigin& origin) {
  const std::string where = origin.is_mask()      ? "a mask, which is meant"
                            : origin.node.empty() ? "given"
                                                  : "node " + origin.node;
  std::string fate = origin.outputs.empty() ? "reaches no output"
                                            : fmt::format("reaches the output {}", origin.outputs[0].output);
  const std::string reason =
      origin.elements.empty() || origin.elements[0].reason.empty() ? "" : ", " + origin.elements[0].reason;
  return fmt::format("{}: {}, {}{}; {}.", origin.tensor, where, count_text(origin.count), reason, fate);
}

void log_report(const debug::NonFiniteReport& report) {
  const NonFiniteOrigin* cause = report.cause();
  if (cause == nullptr) {
    const size_t given = report.origins.size();
    log::info("No node makes NaN or infinity: {} tensor(s) in {} iteration(s) were looked at.{}",
              report.tensors, report.iterations,
              given > 0 ? fmt::format(" {} input(s) or constant(s) hold some.", given) : "");
  } else {
    log::info("{}", origin_text(*cause));
  }
  constexpr size_t kMost = 20;
  std::string others;
  size_t shown = 0, left = 0;
  for (const NonFiniteOrigin& origin : report.origins) {
    if (&origin == cause) continue;
    if (shown == kMost) {
      ++left;
      continue;
    }
    others += (shown++ == 0 ? "" : "\n") + line_of(origin);
  }
  if (left > 0) others += fmt::format("\nand {} more", left);
  if (shown > 0) log::info("{}:\n{}", cause == nullptr ? "They are" : "Besides", others);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const LayerOptions options = read_layer_options(context, ReferencePrecision::kStored);
  if (options.runners.size() > 1)
    log::critical(ErrorCode::kInvalidArgument,
                  "debug nan looks at one backend: name one. debug diverge compares two.");
  context.announce();
  std::vector<std::string> outputs;
  const std::shared_ptr<Model> model = load_layers(options.loading, outputs);
  debug::LayerRun layers(model, options.model.path, options.runners.front(), options.session);
  debug::NonFiniteSearch search(model, outputs);
  debug::NonFiniteReport& report = search.report();
  report.model = options.model.path;
  report.backend = layers.backend();
  const std::shared_ptr<DataSource> source = options.make_data();
  source->begin(layers.inputs());
  while (const std::optional<TensorList> data = source->next()) {
    TensorStore store(kResultMemory);
    debug::LayerValues values(store);
    layers.run(*data, [&](const std::string& name, Tensor value) { values.put(name, std::move(value)); });
    search.look(values);
  }
  require(report.iterations > 0, ErrorCode::kInvalidArgument, "no iteration has data to run the model on");
  log_report(report);
  if (const auto path = args.text("--json"))
    save_text("what was found", debug::non_finite_json(report), *path);
  return report.reaches_outputs() ? 1 : 0;
}

}  // namespace

constinit const Command def = {
    .name = "nan",
    .summary = "Find the node that makes NaN or infinity, why, and what becomes of it.",
    .description =
        "Runs the model with every tensor marked, by default on the reference in the types of the model, and "
        "finds the node that makes NaN or "
        "infinity of finite operands, the element, its operands and the reason, and whether it reaches an "
        "output. The exit code is 1 if it does.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_nan
