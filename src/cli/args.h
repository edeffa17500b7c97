// The command line, read by the rules of Python's argparse, because existing scripts rely on them:
// unambiguous prefixes, greedy word lists, `--opt=value`, runner flags whose order counts, surplus words
// handed back. (CLI11 has none of these, so the design's choice of it does not hold here.)
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

/// Says that the options of a group take no selectors after all: they only pass their words on.
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

/// An option as it was given, by its first name, with its words.
struct GivenOption {
  std::string name;
  std::vector<std::string> words;
};

/// What a command line said. Lookups are by an option's first name; one that no group declares throws Error
/// (kInternal).
class ParsedArgs {
 public:
  bool has(std::string_view name) const { return count(name) > 0; }
  /// Whether the command has this option.
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
  /// Which of these options were given, in the order of the line, repetitions kept.
  std::vector<std::string> sequence(std::span<const std::string> names) const;

  /// The options given, in order.
  const std::vector<const Option*>& given() const { return given_; }
  /// The same, with what they took.
  const std::vector<GivenOption>& occurrences() const { return occurrences_; }
  /// Every spelling of every option that could have been given.
  const std::vector<std::string>& known_names() const { return known_names_; }
  /// Words that belong to nothing.
  const std::vector<std::string>& unrecognized() const { return unrecognized_; }
  /// The subcommands chosen, outermost first.
  const std::vector<std::string>& commands() const { return commands_; }
  /// True when -h or --help was met; help_text() then holds the page and nothing else counts.
  bool wants_help() const { return !help_text_.empty(); }
  const std::string& help_text() const { return help_text_; }
  /// Started under the name of an upstream tool, whose lines must go on to work: what it ignores gets a
  /// warning. Under the program's own name, what would be ignored is an error.
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
  /// `fill` adds the command's own groups and subcommands; it is called only when they are needed.
  void add_command(std::string name, std::string summary, std::string description,
                   std::function<void(ArgParser&)> fill);

  /// Whether an option of this spelling was added, here and not in a subcommand.
  bool has_option(std::string_view name) const;

  /// In the order of --help.
  std::vector<const OptionGroup*> groups() const;

  /// Throws UsageError. Words are those after the program's name.
  ParsedArgs parse(std::span<const std::string> words) const;
  /// What this parser or one with the same options parsed, with further options before what was given. Throws
  /// UsageError for words that their options cannot have, and for options that exclude others.
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

/// Columns of the terminal: COLUMNS, else what the terminal says, else 100; between 50 and 120.
int help_width();

/// The name among `names` that is nearest to `word` (few edits, or an extension of it); empty when none is
/// near.
std::string nearest_name(std::string_view word, std::span<const std::string> names);

}  // namespace assay::cli
