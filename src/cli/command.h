// A subcommand: one file cmd_<name>.cpp and one line in commands.def.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "cli/args.h"

namespace assay::cli {

/// How the program was started.
struct Invocation {
  std::string program;       ///< the name it was started under, without folders: assay, polygraphy
  std::string command_line;  ///< the words as they came, joined by single spaces
  std::chrono::steady_clock::time_point start;

  /// Started through a link named `polygraphy`, so version and wording are upstream's.
  bool as_polygraphy() const { return program == "polygraphy"; }
};

/// What a command works with.
class CommandContext {
 public:
  CommandContext(const ParsedArgs& args, const Invocation& invocation)
      : args_(args), invocation_(invocation) {}

  const ParsedArgs& args() const { return args_; }
  const Invocation& invocation() const { return invocation_; }
  /// Logs RUNNING. The command line then logs PASSED or FAILED at the end. Called once the options are known
  /// to be good.
  void announce();
  bool announced() const { return announced_; }

 private:
  const ParsedArgs& args_;
  const Invocation& invocation_;
  bool announced_ = false;
};

/// One line of commands.def.
struct Command {
  std::string_view name;
  std::string_view summary;      ///< one line, for the list of commands
  std::string_view description;  ///< for the command's own help page
  void (*add_options)(ArgParser& parser) = nullptr;
  /// Returns the exit status, 0 or 1. Throws Error. Null when only the subcommands do something.
  int (*run)(CommandContext& context) = nullptr;
  std::span<const Command* const> subcommands = {};
};

/// Declares what the file cmd_<name>.cpp defines.
#define ASSAY_DECLARE_COMMAND(name) \
  namespace command_##name {        \
    extern const Command def;       \
  }

}  // namespace assay::cli
