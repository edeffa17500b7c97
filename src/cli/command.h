// Interface of subcommands: one file cmd_<name>.cpp and one line in commands.def each.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "cli/args.h"

namespace assay::cli {

struct Command;
struct Registries;
class ReportPage;

/// The invocation of the program.
struct Invocation {
  std::string path;          ///< the first word, argv[0]
  std::string program;       ///< its file name: assay, polygraphy
  std::string command_line;  ///< the words, joined by single spaces
  std::chrono::steady_clock::time_point start;

  /// Started through a link named `polygraphy`, which has upstream's version and wording.
  bool as_polygraphy() const { return program == "polygraphy"; }
};

/// The context of a command.
class CommandContext {
 public:
  CommandContext(const Command& command, const ParsedArgs& args, const Invocation& invocation,
                 const Registries& registries)
      : command_(command), args_(args), invocation_(invocation), registries_(registries) {}

  /// The command that runs.
  const Command& command() const { return command_; }
  const ParsedArgs& args() const { return args_; }
  const Invocation& invocation() const { return invocation_; }
  /// The available operators, passes, tactics, backends and commands.
  const Registries& registries() const { return registries_; }
  /// Logs RUNNING; at the end the command line logs PASSED
  /// or FAILED. Call it when the options are validated.
  void announce();
  bool announced() const { return announced_; }
  /// The page of --report; null where none was asked for.
  ReportPage* report_page() const { return report_page_; }
  void set_report_page(ReportPage* page) { report_page_ = page; }

 private:
  const Command& command_;
  const ParsedArgs& args_;
  const Invocation& invocation_;
  const Registries& registries_;
  bool announced_ = false;
  ReportPage* report_page_ = nullptr;
};

/// Declares a command's options; some depend on the registries, those of modules on the command itself.
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
  /// Returns the exit status, 0 or 1. Throws Error. Null for a group of subcommands.
  int (*run)(CommandContext& context) = nullptr;
  std::span<const Command* const> subcommands = {};
  /// The command itself calls check_option_paths() when it knows which options have an effect.
  bool checks_paths = false;
  /// It has --report: the page has its log, its result and its model, and what it adds itself.
  bool reports = false;
  /// It has --trace.
  bool traces = false;
  /// Its words belong to another program from some position on: only the command itself reads them, and no
  /// modules are loaded for them.
  bool passes_words_on = false;
};

/// Declares what the file cmd_<name>.cpp defines.
#define ASSAY_DECLARE_COMMAND(name) \
  namespace command_##name {        \
    extern const Command def;       \
  }

}  // namespace assay::cli
