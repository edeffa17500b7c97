// The command line, parsed by the rules of Python's argparse, because existing scripts rely on them:
// unambiguous prefixes, greedy word lists, `--opt=value`, runner flags whose order matters, surplus words
// returned. Libraries such as CLI11 do not support these.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poly/option.h"

namespace assay::cli {

/// Options under one title in --help.
struct OptionGroup {
  std::string title;
  std::string description;
  std::vector<Option> options;
};

/// Marks a group's options as taking no selectors: they only pass their words on.
inline void name_nothing(OptionGroup& group) {
  for (Option& o : group.options) o.names_what = Names::kNothing;
}

/// A line that argparse would reject with exit status 2.
class UsageError : public std::runtime_error {
 public:
  UsageError(std::string program, std::string usage, const std::string& message)
      : std::runtime_error(message), program_(std::move(program)), usage_(std::move(usage)) {}
  const std::string& program() const { return program_; }  ///< `assay run`
  const std::string& usage() const { return usage_; }      ///< text that ends with a newline

 private:
  std::string program_, usage_;
};

/// An occurrence of an option, by its first name, with its words.
struct GivenOption {
  std::string name;
  std::vector<std::string> words;
};

/// The parsed command line. Lookups use an option's first
/// name; an undeclared one throws Error (kInternal).
class ParsedArgs {
 public:
  bool has(std::string_view name) const { return count(name) > 0; }
  /// True when the command has this option.
  bool declares(std::string_view name) const;
  /// How many times the option was given.
  int count(std::string_view name) const;
  /// The value of the last occurrence; nothing when the option was not given or took no word.
  std::optional<std::string> text(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  /// The words of the last occurrence; nothing when the option was not given.
  std::optional<std::vector<std::string>> list(std::string_view name) const;
  /// The words of every occurrence, in order.
  std::vector<std::vector<std::string>> all(std::string_view name) const;
  /// The occurrences of these options, in the order of the line.
  std::vector<std::string> sequence(std::span<const std::string> names) const;

  /// The options given, in order.
  const std::vector<const Option*>& given() const { return given_; }
  /// The same, with their words.
  const std::vector<GivenOption>& occurrences() const { return occurrences_; }
  /// Every spelling of every declared option.
  const std::vector<std::string>& known_names() const { return known_names_; }
  /// Surplus words.
  const std::vector<std::string>& unrecognized() const { return unrecognized_; }
  /// The subcommands chosen, outermost first.
  const std::vector<std::string>& commands() const { return commands_; }
  /// True when -h or --help was given; help_text() then holds the page, and the rest is invalid.
  bool wants_help() const { return !help_text_.empty(); }
  const std::string& help_text() const { return help_text_; }
  /// Started under the name of an upstream tool, whose command lines must keep working: ignored options get a
  /// warning. Under the program's own name they are an error.
  bool is_upstream() const { return is_upstream_; }
  void set_upstream(bool is_upstream) { is_upstream_ = is_upstream; }

 private:
  friend class ArgParser;
  friend class ArgScanner;
  const GivenOption* last(std::string_view name) const;
  void require_declared(std::string_view name) const;

  std::vector<GivenOption> occurrences_;
  std::vector<std::string> declared_, known_names_;
  std::vector<const Option*> given_;
  std::vector<std::string> unrecognized_;
  std::vector<std::string> commands_;
  std::string help_text_;
  bool is_upstream_ = false;
  std::vector<std::shared_ptr<const void>> parsers_;  // own what given_ points to
};

/// Options and subcommands of a program or of one of its commands.
class ArgParser {
 public:
  /// `program` as in usage lines: `assay run`. `-h` and `--help` are always there.
  ArgParser(std::string program, std::string description);

  /// The reference stays valid.
  OptionGroup& add_group(std::string title, std::string description = {});
  /// `fill` adds the command's groups and subcommands; it is called on demand.
  void add_command(std::string name, std::string summary, std::string description,
                   std::function<void(ArgParser&)> fill);

  /// True when this parser, not a subcommand, has an option of this spelling.
  bool has_option(std::string_view name) const;

  /// In the order of --help.
  std::vector<const OptionGroup*> groups() const;
  /// `assay run`, and what it does.
  const std::string& program() const { return contents_->program; }
  const std::string& description() const { return contents_->description; }
  /// The subcommands, filled, each with its summary.
  std::vector<std::pair<ArgParser, std::string>> commands() const;

  /// Throws UsageError. Words are those after the program's name.
  ParsedArgs parse(std::span<const std::string> words) const;
  /// Adds options in front of a result of this parser or of one with the same options. Throws UsageError for
  /// words that their options cannot have, and for options that exclude others.
  ParsedArgs with_options(const ParsedArgs& args, const std::vector<GivenOption>& first) const;

  /// The usage lines, wrapped to `width` columns, ended by a newline.
  std::string usage(int width) const;
  /// The whole page.
  std::string help(int width) const;

 private:
  friend class ArgScanner;
  struct Command {
    std::string name, summary, description;
    std::function<void(ArgParser&)> fill;
  };
  /// Everything a ParsedArgs may point into.
  struct Contents {
    std::string program, description;
    std::vector<std::unique_ptr<OptionGroup>> groups;
    std::vector<Command> commands;
  };
  std::shared_ptr<Contents> contents_;
};

/// Columns of the terminal: COLUMNS, else the terminal's report, else 100; between 20 and 120.
int help_width();

/// The name among `names` that is nearest to `word` (few edits, or an extension of it); empty when none is
/// near.
std::string nearest_name(std::string_view word, std::span<const std::string> names);

}  // namespace assay::cli
