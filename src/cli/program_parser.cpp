#include "cli/program_parser.h"

#include <fmt/format.h>

#include "cli/options/extensions.h"
#include "cli/options/resources.h"
#include "cli/report_page.h"
#include "cli/trace_output.h"

namespace assay::cli {
namespace {

struct Example {
  const char *purpose, *words;
};
constexpr Example kExamples[] = {
    {"Who is wrong, and where does it begin?", "run model.onnx --engine --onnxrt --arbiter"},
    {"How fast is it?", "bench model.onnx"},
    {"What is in it, and is it sound?", "check lint model.onnx"},
};

void add_command(ArgParser& parser, const Command& command, const Registries& registries) {
  parser.add_command(std::string(command.name), std::string(command.summary),
                     std::string(command.description), [&command, &registries](ArgParser& inner) {
                       command.add_options(inner, registries, command);
                       if (command.run != nullptr && !command.passes_words_on) {
                         add_extension_options(inner);
                         add_resource_options(inner);
                       }
                       if (command.reports) add_report_option(inner);
                       if (command.traces) add_trace_option(inner);
                       for (const Command* sub : command.subcommands) add_command(inner, *sub, registries);
                     });
}

}  // namespace

ArgParser program_parser(const std::string& program, const Registries& registries) {
  ArgParser parser(
      program,
      "Runs a neural network on several backends, says whether they agree, which one is wrong and where it "
      "begins to go wrong.");
  parser.add_group("General").options.push_back({.names = {"--version", "-v"},
                                                 .help = "Print the version.",
                                                 .arity = Arity::kNone,
                                                 .ends_parsing = true});
  for (const Command* command : registries.commands.all()) add_command(parser, *command, registries);
  return parser;
}

std::string first_page(const ArgParser& parser, int width) {
  std::string examples = "\nExamples\n";
  for (const Example& e : kExamples)
    examples += fmt::format("  {}\n      {} {}\n", e.purpose, parser.program(), e.words);
  std::string page = parser.help(width);
  page.insert(page.find("\nCommands\n"), examples);
  return page + fmt::format("\n{} COMMAND --help tells the rest.\n", parser.program());
}

}  // namespace assay::cli
