#include "cli/args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "base/python_repr.h"
#include "base/similar_name.h"
#include "run/python_parse.h"

namespace assay::cli {

// ---- ParsedArgs

bool ParsedArgs::declares(std::string_view name) const {
  return std::find(declared_.begin(), declared_.end(), name) != declared_.end();
}

void ParsedArgs::require_declared(std::string_view name) const {
  require(declares(name), ErrorCode::kInternal, "option {} was read but never declared", name);
}

int ParsedArgs::count(std::string_view name) const {
  require_declared(name);
  return static_cast<int>(std::count_if(occurrences_.begin(), occurrences_.end(),
                                        [&](const GivenOption& o) { return o.name == name; }));
}

const GivenOption* ParsedArgs::last(std::string_view name) const {
  require_declared(name);
  const auto it = std::find_if(occurrences_.rbegin(), occurrences_.rend(),
                               [&](const GivenOption& o) { return o.name == name; });
  return it == occurrences_.rend() ? nullptr : &*it;
}

std::optional<std::string> ParsedArgs::text(std::string_view name) const {
  const GivenOption* o = last(name);
  if (o == nullptr || o->words.empty()) return std::nullopt;
  return o->words.front();
}

std::optional<int64_t> ParsedArgs::integer(std::string_view name) const {
  const auto t = text(name);
  return t ? python_int(*t) : std::nullopt;
}

std::optional<double> ParsedArgs::number(std::string_view name) const {
  const auto t = text(name);
  return t ? python_float(*t) : std::nullopt;
}

std::optional<std::vector<std::string>> ParsedArgs::list(std::string_view name) const {
  const GivenOption* o = last(name);
  if (o == nullptr) return std::nullopt;
  return o->words;
}

std::vector<std::vector<std::string>> ParsedArgs::all(std::string_view name) const {
  require_declared(name);
  std::vector<std::vector<std::string>> result;
  for (const GivenOption& o : occurrences_)
    if (o.name == name) result.push_back(o.words);
  return result;
}

std::vector<std::string> ParsedArgs::sequence(std::span<const std::string> names) const {
  std::vector<std::string> result;
  for (const GivenOption& o : occurrences_)
    if (std::find(names.begin(), names.end(), o.name) != names.end()) result.push_back(o.name);
  return result;
}

// ---- ArgParser

ArgParser::ArgParser(std::string program, std::string description) : contents_(std::make_shared<Contents>()) {
  contents_->program = std::move(program);
  contents_->description = std::move(description);
}

bool ArgParser::has_option(std::string_view name) const {
  for (const auto& group : contents_->groups)
    for (const Option& o : group->options)
      if (std::find(o.names.begin(), o.names.end(), name) != o.names.end()) return true;
  return false;
}

std::vector<const OptionGroup*> ArgParser::groups() const {
  std::vector<const OptionGroup*> all;
  for (const auto& group : contents_->groups) all.push_back(group.get());
  return all;
}

std::vector<std::pair<ArgParser, std::string>> ArgParser::commands() const {
  std::vector<std::pair<ArgParser, std::string>> all;
  for (const Command& c : contents_->commands) {
    all.emplace_back(ArgParser(contents_->program + " " + c.name, c.description), c.summary);
    c.fill(all.back().first);
  }
  return all;
}

OptionGroup& ArgParser::add_group(std::string title, std::string description) {
  contents_->groups.push_back(
      std::make_unique<OptionGroup>(OptionGroup{std::move(title), std::move(description), {}}));
  return *contents_->groups.back();
}

void ArgParser::add_command(std::string name, std::string summary, std::string description,
                            std::function<void(ArgParser&)> fill) {
  contents_->commands.push_back(
      {std::move(name), std::move(summary), std::move(description), std::move(fill)});
}

// ---- Reading a line

/// The nearest name, if it has anything in common with the word.
std::string likely_name(std::string_view word, std::span<const std::string> names) {
  const std::string near = nearest_name(word, names);
  return edit_distance(word, near, word.size()) < word.size() ? near : std::string();
}

/// One pass over the words, by argparse's algorithm: options are found first, and between them positionals
/// take as many words as their arity allows.
class ArgScanner {
 public:
  ArgScanner(const ArgParser& parser, std::span<const std::string> words) : parser_(parser), words_(words) {
    for (const auto& group : parser.contents_->groups)
      for (const Option& option : group->options) {
        result_.declared_.push_back(option.names.front());
        if (option.is_positional())
          positionals_.push_back(&option);
        else
          for (const std::string& name : option.names) {
            by_name_.emplace_back(name, &option);
            if (!option.help.empty()) result_.known_names_.push_back(name);
          }
      }
    result_.parsers_.push_back(parser.contents_);
    by_name_.emplace_back("-h", nullptr);
    by_name_.emplace_back("--help", nullptr);
  }

  ParsedArgs scan();
  /// Continues from an earlier result.
  ParsedArgs rebuild(const ParsedArgs& args, const std::vector<GivenOption>& first);

 private:
  /// The classification of a word: an option (null for help) with a name and perhaps a value after `=`, an
  /// unknown option, or a positional word.
  struct Word {
    enum class Kind : uint8_t { kPositional, kOption, kUnknown, kSeparator } kind = Kind::kPositional;
    const Option* option = nullptr;
    std::string name;
    std::optional<std::string> value;
  };

  std::vector<std::pair<std::string, const Option*>>::const_iterator find_name(std::string_view name) const {
    return std::find_if(by_name_.begin(), by_name_.end(),
                        [&](const auto& entry) { return entry.first == name; });
  }
  Word classify(const std::string& word) const;
  std::vector<Word> prefix_matches(const std::string& word) const;
  /// Passes the words from the first one of another program on to the remainder positional.
  void take_remainder();
  /// Consecutive positional words from `start`.
  size_t run_length(size_t start) const;
  size_t take_option(size_t index);
  size_t take_positionals(size_t index);
  std::string command_hint(const std::string& name) const;
  size_t take_command(size_t index);
  /// Number of words that an option takes of `available`; throws UsageError when its arity cannot be met.
  size_t words_for(const Option& option, size_t available) const;
  void record(const Option& option, std::vector<std::string> words);
  void check_required() const;
  bool is_given(const Option& o) const;
  /// An option of a mutually exclusive group was given.
  void check_choice(const OptionGroup& group, const std::string& exclusive) const;
  [[noreturn]] void usage_error(const std::string& message) const {
    throw UsageError(parser_.contents_->program, parser_.usage(help_width()), message);
  }
  [[noreturn]] void option_error(const Option& option, const std::string& message) const {
    usage_error(fmt::format("argument {}: {}", option.label(), message));
  }

  const ArgParser& parser_;
  std::span<const std::string> words_;
  std::vector<std::pair<std::string, const Option*>> by_name_;  // every spelling, as declared; null for help
  std::vector<const Option*> positionals_;                      // still without words
  std::vector<Word> meaning_;
  const Option* remainder_of_ = nullptr;
  std::vector<std::string> remainder_;
  ParsedArgs result_;
};

namespace {

bool looks_like_negative_number(const std::string& word) {
  size_t i = 1, digits = 0, dots = 0;
  for (; i < word.size(); ++i) {
    if (word[i] == '.')
      ++dots;
    else if (word[i] >= '0' && word[i] <= '9')
      ++digits;
    else
      return false;
  }
  return digits > 0 && dots <= 1 && word.back() != '.';
}

}  // namespace

std::vector<ArgScanner::Word> ArgScanner::prefix_matches(const std::string& word) const {
  std::vector<Word> matches;
  if (word.starts_with("--")) {
    const size_t equals = word.find('=');
    const std::string prefix = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    for (const auto& [name, option] : by_name_)
      if (name.starts_with(prefix)) matches.push_back({Word::Kind::kOption, option, name, value});
  } else if (const auto it = find_name(word.substr(0, 2)); it != by_name_.end()) {
    matches.push_back({Word::Kind::kOption, it->second, it->first, word.substr(2)});
  }
  return matches;
}

ArgScanner::Word ArgScanner::classify(const std::string& word) const {
  if (word.size() < 2 || word[0] != '-') return {};
  if (const auto it = find_name(word); it != by_name_.end())
    return {Word::Kind::kOption, it->second, word, std::nullopt};
  if (const size_t equals = word.find('='); equals != std::string::npos)
    if (const auto it = find_name(word.substr(0, equals)); it != by_name_.end())
      return {Word::Kind::kOption, it->second, it->first, word.substr(equals + 1)};

  const std::vector<Word> matches = prefix_matches(word);
  const bool one_option = std::all_of(matches.begin(), matches.end(),
                                      [&](const Word& m) { return m.option == matches.front().option; });
  if (!matches.empty() && one_option) return matches.front();
  if (!matches.empty()) {
    std::vector<std::string> names;
    for (const Word& m : matches) names.push_back(m.name);
    usage_error(fmt::format("ambiguous option: {} could match {}", word, fmt::join(names, ", ")));
  }
  const size_t blank = word.find(' ');
  // argparse treats no word with a blank as an option, except --name=VALUE.
  const bool has_value = word.starts_with("--") && word.find('=') < blank;
  if (looks_like_negative_number(word) || (blank != std::string::npos && !has_value)) return {};
  return {Word::Kind::kUnknown, nullptr, word, std::nullopt};
}

size_t ArgScanner::run_length(size_t start) const {
  size_t end = start;
  while (end < meaning_.size() && meaning_[end].kind == Word::Kind::kPositional) ++end;
  return end - start;
}

size_t ArgScanner::words_for(const Option& option, size_t available) const {
  switch (option.arity) {
    case Arity::kNone:
      return 0;
    case Arity::kOne:
      if (available < 1) option_error(option, "expected one argument");
      return 1;
    case Arity::kOptional:
      return std::min<size_t>(available, 1);
    case Arity::kAny:
      return available;
    case Arity::kAtLeastOne:
      if (available < 1) option_error(option, "expected at least one argument");
      return available;
    case Arity::kRemainder:  // it has its words already
      return 0;
  }
  return 0;
}

void ArgScanner::record(const Option& option, std::vector<std::string> words) {
  for (const std::string& w : words) {
    if (option.kind == ValueKind::kInteger && !python_int(w))
      option_error(option, fmt::format("invalid int value: {}", python_str_repr(w)));
    if (option.kind == ValueKind::kNumber && !python_float(w))
      option_error(option, fmt::format("invalid float value: {}", python_str_repr(w)));
    if (!option.choices.empty() &&
        std::find(option.choices.begin(), option.choices.end(), w) == option.choices.end()) {
      std::vector<std::string> quoted;
      for (const std::string& c : option.choices) quoted.push_back(python_str_repr(c));
      const std::string near = likely_name(w, option.choices);
      option_error(
          option,
          fmt::format("invalid choice: {} (choose from {}){}", python_str_repr(w), fmt::join(quoted, ", "),
                      near.empty() ? "" : fmt::format(". Did you mean {}?", python_str_repr(near))));
    }
  }
  if (!option.exclusive.empty())
    for (const Option* other : result_.given_)
      if (other != &option && other->exclusive == option.exclusive)
        option_error(option, fmt::format("not allowed with argument {}", other->label()));
  result_.occurrences_.push_back({option.names.front(), std::move(words)});
  result_.given_.push_back(&option);
}

size_t ArgScanner::take_option(size_t index) {
  Word word = meaning_[index];
  if (word.kind == Word::Kind::kUnknown) {
    result_.unrecognized_.push_back(words_[index]);
    return index + 1;
  }
  for (;;) {
    if (word.option == nullptr) {
      result_.help_text_ = parser_.help(help_width());
      return words_.size();
    }
    const Option& option = *word.option;
    if (!word.value) break;
    if (option.arity != Arity::kNone) {
      record(option, {*word.value});
      return index + 1;
    }
    // Flags of one letter may be joined: -vv, -vq.
    const std::string rest = *word.value;
    const bool joined =
        !word.name.starts_with("--") && !rest.empty() && words_[index].find('=') == std::string::npos;
    const auto it = joined ? find_name(std::string("-") + rest[0]) : by_name_.end();
    if (it == by_name_.end())
      option_error(option, fmt::format("ignored explicit argument {}", python_str_repr(rest)));
    record(option, {});
    word.option = it->second;
    word.name = it->first;
    word.value = rest.size() > 1 ? std::optional(rest.substr(1)) : std::nullopt;
  }
  if (word.option->arity == Arity::kRemainder) {
    record(*word.option, {words_.begin() + static_cast<std::ptrdiff_t>(index + 1), words_.end()});
    return words_.size();
  }
  const size_t count = words_for(*word.option, run_length(index + 1));
  record(*word.option, {words_.begin() + static_cast<std::ptrdiff_t>(index + 1),
                        words_.begin() + static_cast<std::ptrdiff_t>(index + 1 + count)});
  return index + 1 + count;
}

/// Suggestions: a command here, a subcommand of one, or `run` for a named file.
std::string ArgScanner::command_hint(const std::string& name) const {
  std::vector<std::string> names, below, paths;
  for (const auto& c : parser_.contents_->commands) {
    names.push_back(c.name);
    ArgParser inner(c.name, c.description);
    c.fill(inner);
    for (const auto& sub : inner.contents_->commands) {
      below.push_back(sub.name);
      paths.push_back(c.name + " " + sub.name);
    }
  }
  const auto path_of = [&](const std::string& sub) {
    return paths[static_cast<size_t>(std::find(below.begin(), below.end(), sub) - below.begin())];
  };
  std::string meant;
  std::error_code ec;
  if (std::find(below.begin(), below.end(), name) != below.end())
    meant = path_of(name);
  else if (const std::string near = likely_name(name, names); !near.empty())
    meant = near;
  else if (const std::string lower = likely_name(name, below); !lower.empty())
    meant = path_of(lower);
  else if (std::find(names.begin(), names.end(), "run") != names.end() &&
           std::filesystem::is_regular_file(name, ec))
    meant = "run " + name;
  return meant.empty() ? meant : fmt::format(". Did you mean '{}'?", meant);
}

size_t ArgScanner::take_command(size_t index) {
  const std::string& name = words_[index];
  const auto& commands = parser_.contents_->commands;
  const auto it =
      std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return c.name == name; });
  if (it == commands.end()) {
    std::vector<std::string> names;
    for (const auto& c : commands) names.push_back(python_str_repr(c.name));
    usage_error(fmt::format("argument command: invalid choice: {} (choose from {}){}", python_str_repr(name),
                            fmt::join(names, ", "), command_hint(name)));
  }
  ArgParser inner(parser_.contents_->program + " " + name, it->description);
  it->fill(inner);
  ParsedArgs rest = inner.parse(words_.subspan(index + 1));
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  result_.commands_.push_back(name);
  append(result_.commands_, rest.commands_);
  append(result_.occurrences_, rest.occurrences_);
  append(result_.declared_, rest.declared_);
  append(result_.known_names_, rest.known_names_);
  append(result_.given_, rest.given_);
  append(result_.unrecognized_, rest.unrecognized_);
  append(result_.parsers_, rest.parsers_);
  result_.help_text_ = std::move(rest.help_text_);
  return words_.size();
}

size_t ArgScanner::take_positionals(size_t index) {
  if (!parser_.contents_->commands.empty() && result_.commands_.empty() && run_length(index) > 0)
    return take_command(index);
  size_t available = run_length(index);
  const auto least = [](const Option& o) {
    return o.arity == Arity::kOne || o.arity == Arity::kAtLeastOne ? 1U : 0U;
  };
  // Fills as many positionals as possible, each greedily.
  size_t served = 0, needed = 0;
  while (served < positionals_.size() && needed + least(*positionals_[served]) <= available)
    needed += least(*positionals_[served++]);
  for (size_t i = 0; i < served; ++i) {
    const Option& option = *positionals_[i];
    needed -= least(option);
    const size_t count = words_for(option, available - needed);
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(index);
    if (count > 0) record(option, {first, first + static_cast<std::ptrdiff_t>(count)});
    index += count;
    available -= count;
  }
  positionals_.erase(positionals_.begin(), positionals_.begin() + static_cast<std::ptrdiff_t>(served));
  return index;
}

void ArgScanner::check_required() const {
  std::vector<std::string> missing;
  if (!parser_.contents_->commands.empty() && result_.commands_.empty()) missing.push_back("command");
  for (const Option* p : positionals_)
    if (p->arity == Arity::kOne || p->arity == Arity::kAtLeastOne) missing.push_back(p->names.front());
  for (const auto& group : parser_.contents_->groups)
    for (const Option& o : group->options)
      if (o.required && o.exclusive.empty() && !is_given(o)) missing.push_back(o.label());
  if (!missing.empty())
    usage_error(fmt::format("the following arguments are required: {}", fmt::join(missing, ", ")));
  for (const auto& group : parser_.contents_->groups)
    for (const Option& o : group->options)
      if (o.required && !o.exclusive.empty()) check_choice(*group, o.exclusive);
}

bool ArgScanner::is_given(const Option& o) const {
  return std::find(result_.given_.begin(), result_.given_.end(), &o) != result_.given_.end();
}

void ArgScanner::check_choice(const OptionGroup& group, const std::string& exclusive) const {
  std::vector<std::string> labels;
  for (const Option& o : group.options) {
    if (o.exclusive != exclusive) continue;
    if (is_given(o)) return;
    labels.push_back(o.label());
  }
  usage_error(fmt::format("one of the arguments {} is required", fmt::join(labels, " ")));
}

void ArgScanner::take_remainder() {
  const auto taker = std::find_if(positionals_.begin(), positionals_.end(),
                                  [](const Option* p) { return p->arity == Arity::kRemainder; });
  if (taker == positionals_.end()) return;
  size_t own = 0;
  while (own < words_.size()) {
    const Word word = classify(words_[own]);
    if (word.kind == Word::Kind::kPositional) break;
    ++own;
    if (word.kind != Word::Kind::kOption || word.option == nullptr) continue;
    if (!word.value && word.option->arity == Arity::kOne) own = std::min(own + 1, words_.size());
    if (word.option->begins_remainder) break;
  }
  remainder_of_ = *taker;
  remainder_ = {words_.begin() + static_cast<std::ptrdiff_t>(own), words_.end()};
  words_ = words_.first(own);
  positionals_.erase(taker);
}

ParsedArgs ArgScanner::rebuild(const ParsedArgs& args, const std::vector<GivenOption>& first) {
  const auto record_by_name = [&](const GivenOption& given) {
    for (const auto& group : parser_.contents_->groups)
      for (const Option& option : group->options)
        if (option.names.front() == given.name) return record(option, given.words);
    fail(ErrorCode::kInternal, "option {} was given but never declared", given.name);
  };
  for (const GivenOption& given : first) record_by_name(given);
  for (const GivenOption& given : args.occurrences()) record_by_name(given);
  result_.declared_ = args.declared_;
  result_.known_names_ = args.known_names_;
  result_.unrecognized_ = args.unrecognized_;
  result_.commands_ = args.commands_;
  result_.is_upstream_ = args.is_upstream_;
  return result_;
}

ParsedArgs ArgScanner::scan() {
  take_remainder();
  // Words after a subcommand are classified by it.
  const bool has_commands = !parser_.contents_->commands.empty();
  bool only_positionals = false;
  for (const std::string& word : words_) {
    if (only_positionals)
      meaning_.emplace_back();
    else if (word == "--")
      meaning_.push_back({Word::Kind::kSeparator, nullptr, word, std::nullopt}), only_positionals = true;
    else
      meaning_.push_back(classify(word));
    if (has_commands && meaning_.back().kind == Word::Kind::kPositional) break;
    const Option* option = meaning_.back().option;
    if (option != nullptr && option->arity == Arity::kRemainder) break;
  }
  size_t index = 0;
  const auto ended = [&] {
    return result_.wants_help() || (!result_.given_.empty() && result_.given_.back()->ends_parsing);
  };
  while (index < meaning_.size() && !ended()) {
    switch (meaning_[index].kind) {
      case Word::Kind::kSeparator:
        ++index;
        break;
      case Word::Kind::kOption:
      case Word::Kind::kUnknown:
        index = take_option(index);
        break;
      case Word::Kind::kPositional: {
        const size_t next = take_positionals(index);
        if (next == index) result_.unrecognized_.push_back(words_[index]);
        index = std::max(next, index + 1);
      }
    }
  }
  if (!ended()) check_required();
  if (!remainder_.empty() && !result_.wants_help()) record(*remainder_of_, std::move(remainder_));
  return std::move(result_);
}

ParsedArgs ArgParser::parse(std::span<const std::string> words) const {
  return ArgScanner(*this, words).scan();
}

ParsedArgs ArgParser::with_options(const ParsedArgs& args, const std::vector<GivenOption>& first) const {
  return ArgScanner(*this, {}).rebuild(args, first);
}

}  // namespace assay::cli
