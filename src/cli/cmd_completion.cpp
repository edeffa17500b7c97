// assay completion: the command line for shells, and as pages of the manual.
#include <filesystem>

#include "assay/version.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/options/logging.h"
#include "cli/program_parser.h"
#include "cli/registries.h"

namespace assay::cli::command_completion {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Completion").options = {
      {.names = {"for"},
       .help = "A shell (bash, zsh or fish), or man: pages of the manual.",
       .metavar = "SHELL",
       .choices = {"bash", "zsh", "fish", "man"}},
      {.names = {"-o", "--output"},
       .help = "The folder for the pages of the manual, one for each command. Default: the first page is "
               "printed.",
       .metavar = "FOLDER"}};
}

void write_manual(const ArgParser& program, const ParsedArgs& args) {
  const auto pages = manual_pages(program, kVersion);
  const auto folder = args.text("-o");
  if (!folder) return log::print(pages.front().second);
  for (const auto& [name, text] : pages) {
    AtomicFile file((std::filesystem::path(*folder) / name).string());
    file.write(text);
    file.commit();
  }
  log::info("{} pages are in {}", pages.size(), *folder);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string what = args.text("for").value();
  const ArgParser program = program_parser("assay", context.registries());
  if (what == "man") {
    write_manual(program, args);
    return 0;
  }
  if (args.has("-o"))
    log::critical(ErrorCode::kInvalidArgument,
                  "-o has no effect: the script for {} is printed. Send it to a file with >.", what);
  log::print(completion_script(program, what));
  return 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "completion",
    .summary = "Print the completion of commands and options for a shell, or pages of the manual.",
    .description =
        "Prints a script that completes commands, options and their values in bash, zsh or fish, or writes "
        "pages of "
        "the manual. Both are made from the same tables as --help. `cmake --install` installs them.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_completion
