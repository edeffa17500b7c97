// A subcommand: one file cmd_<name>.cpp and one line in commands.def.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "cli/args.h"

namespace assay::cli {

struct Command;
struct Registries;

/// How the program was started.
struct Invocation {
  std::string path;          ///< the first word: how it was started
  std::string program;       ///< the name it was started under, without folders: assay, polygraphy
  std::string command_line;  ///< the words as they came, joined by single spaces
  std::chrono::steady_clock::time_point start;

  /// Started through a link named `polygraphy`, so version and wording are upstream's.
  bool as_polygraphy() const { return program == "polygraphy"; }
};

/// What a command works with.
class CommandContext {
 public:
  CommandContext(const Command& command, const ParsedArgs& args, const Invocation& invocation,
                 const Registries& registries)
      : command_(command), args_(args), invocation_(invocation), registries_(registries) {}

  /// The one that runs.
  const Command& command() const { return command_; }
  const ParsedArgs& args() const { return args_; }
  const Invocation& invocation() const { return invocation_; }
  /// The operators, passes, tactics, backends and commands there are.
  const Registries& registries() const { return registries_; }
  /// Logs RUNNING. The command line then logs PASSED or FAILED at the end. Called once the options are known
  /// to be good.
  void announce();
  bool announced() const { return announced_; }

 private:
  const Command& command_;
  const ParsedArgs& args_;
  const Invocation& invocation_;
  const Registries& registries_;
  bool announced_ = false;
};

/// Declares a command's options; some depend on what there is, those of modules on the command itself.
class OptionAdder {
 public:
  using Full = void (*)(ArgParser&, const Registries&, const Command&);
  constexpr OptionAdder() = default;
  constexpr OptionAdder(void (*add)(ArgParser&)) : plain_(add) {}                               // NOLINT
  constexpr OptionAdder(void (*add)(ArgParser&, const Registries&)) : with_registries_(add) {}  // NOLINT
  constexpr OptionAdder(Full add) : full_(add) {}                                               // NOLINT
  void operator()(ArgParser& parser, const Registries& registries, const Command& command) const {
    if (plain_ != nullptr) plain_(parser);
    if (with_registries_ != nullptr) with_registries_(parser, registries);
    if (full_ != nullptr) full_(parser, registries, command);
  }

 private:
  void (*plain_)(ArgParser&) = nullptr;
  void (*with_registries_)(ArgParser&, const Registries&) = nullptr;
  Full full_ = nullptr;
};

/// One line of commands.def.
struct Command {
  std::string_view name;
  std::string_view summary;      ///< one line, for the list of commands
  std::string_view description;  ///< for the command's own help page
  OptionAdder add_options = {};
  /// Returns the exit status, 0 or 1. Throws Error. Null when only the subcommands do something.
  int (*run)(CommandContext& context) = nullptr;
  std::span<const Command* const> subcommands = {};
  /// The command itself calls check_option_paths(), once it knows which options act.
  bool checks_paths = false;
  /// Its words are another program's from some place on: nothing is read of them before the command itself
  /// does, and no modules are loaded for them.
  bool passes_words_on = false;
};

/// Declares what the file cmd_<name>.cpp defines.
#define ASSAY_DECLARE_COMMAND(name) \
  namespace command_##name {        \
    extern const Command def;       \
  }

}  // namespace assay::cli
