#include <fmt/format.h>

#include <algorithm>

#include "base/similar_name.h"
#include "cli/args.h"
#include "console/terminal.h"

namespace assay::cli {
namespace {

constexpr size_t kHelpColumn = 28;
/// Below this width the description stands below the syntax.
constexpr size_t kTwoColumns = 60;

/// `text` broken at spaces into lines of at most `width` columns; line breaks in it are kept.
std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t line_break = text.find('\n');
    std::string_view paragraph = text.substr(0, line_break);
    text = line_break == std::string_view::npos ? std::string_view() : text.substr(line_break + 1);
    std::string line;
    while (!paragraph.empty()) {
      const size_t space = paragraph.find(' ');
      const std::string_view word = paragraph.substr(0, space);
      paragraph = space == std::string_view::npos ? std::string_view() : paragraph.substr(space + 1);
      if (!line.empty() && line.size() + 1 + word.size() > width) {
        lines.push_back(std::move(line));
        line.clear();
      }
      if (!line.empty()) line += ' ';
      line += word;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string value_text(const Option& option) {
  std::string name = option.metavar;
  if (name.empty() && !option.choices.empty()) {
    for (const std::string& c : option.choices) name += (name.empty() ? "{" : ",") + c;
    name += "}";
  }
  if (name.empty()) {
    const auto is_long = [](const std::string& n) { return n.starts_with("--"); };
    const auto it = std::find_if(option.names.begin(), option.names.end(), is_long);
    for (const char c : it == option.names.end() ? option.names.front() : *it)
      if (c != '-' || !name.empty()) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  }
  switch (option.arity) {
    case Arity::kNone:
      return "";
    case Arity::kOne:
      return name;
    case Arity::kOptional:
      return "[" + name + "]";
    case Arity::kAny:
      return "[" + name + " ...]";
    case Arity::kAtLeastOne:
    case Arity::kRemainder:
      return name + " ...";
  }
  return "";
}

std::string head(const Option& option) {
  if (option.is_positional()) return option.metavar.empty() ? option.names.front() : option.metavar;
  std::string text;
  for (const std::string& n : option.names) text += (text.empty() ? "" : ", ") + n;
  const std::string value = value_text(option);
  return value.empty() ? text : text + " " + value;
}

/// Two columns: syntax and description.
void append_entry(std::string& out, const std::string& left, std::string_view text, size_t width) {
  const size_t column = width < kTwoColumns ? 6 : kHelpColumn;
  std::string line = "  " + left;
  for (const std::string& part : wrap(text, width - column)) {
    if (line.size() + 2 > column && !line.empty()) {
      out += line + "\n";
      line.clear();
    }
    line.resize(column, ' ');
    out += line + part + "\n";
    line.clear();
  }
  if (!line.empty()) out += line + "\n";
}

/// Explains selectors, for options that name parts of a model.
void append_names(std::string& out, const std::vector<const Option*>& options, size_t width) {
  static constexpr std::pair<Names, std::string_view> kKinds[] = {
      {Names::kTensors,
       "a name, a pattern (conv*), a regular expression (re:conv[0-9]+), an operator (op:Conv), or any of "
       "these in a "
       "subgraph (loop::x, if_3::then_branch::x, function:NAME::x)."},
      {Names::kOutputs,
       "a name, a pattern (out*), a regular expression (re:out[0-9]+), or an operator (op:Softmax)."},
      {Names::kNodes,
       "a node's name, a pattern (conv*), a regular expression (re:conv[0-9]+), an operator (op:Conv), or "
       "any of "
       "these in a subgraph (loop::NAME); before the last colon."},
      {Names::kInputs, "a name, a pattern (image*), or a regular expression (re:image[0-9]+)."}};
  std::string text;
  for (const auto& [kind, words] : kKinds) {
    std::string names;
    for (const Option* o : options)
      if (o->names_what == kind) names += (names.empty() ? "" : ", ") + o->names.front();
    if (names.empty()) continue;
    for (const std::string& line : wrap(names + ": " + std::string(words), width - 2))
      text += "  " + line + "\n";
  }
  if (text.empty()) return;
  out += "\nHow tensors are named\n" + text;
  for (const std::string& line :
       wrap("A name that the model has is taken as it is. See docs/reference/selectors.md.", width - 2))
    out += "  " + line + "\n";
}

void append_refused(std::string& out, const std::vector<const Option*>& refused, size_t width) {
  if (refused.empty()) return;
  std::string names;
  for (const Option* o : refused) names += (names.empty() ? "" : " ") + o->names.front();
  out += "\nKnown but refused in this build, each with the reason\n";
  for (const std::string& line : wrap(names, width - 2)) out += "  " + line + "\n";
}

}  // namespace

int help_width() {
  constexpr size_t kUnknown = 100, kLeast = 20, kMost = 120;
  const size_t columns = text_columns();
  return static_cast<int>(std::clamp(columns == 0 ? kUnknown : columns, kLeast, kMost));
}

std::string ArgParser::usage(int width) const {
  std::string text = "usage: " + contents_->program + " [options]";
  for (const auto& group : contents_->groups)
    for (const Option& o : group->options) {
      if (o.is_positional()) {
        const bool optional =
            o.arity == Arity::kOptional || o.arity == Arity::kAny || o.arity == Arity::kRemainder;
        text += optional ? fmt::format(" [{}]", head(o)) : " " + head(o);
        if (o.arity == Arity::kAny || o.arity == Arity::kAtLeastOne) text += " ...";
      } else if (o.required) {
        text += " " + o.names.front() + (o.arity == Arity::kNone ? "" : " " + value_text(o));
      }
    }
  if (!contents_->commands.empty()) text += " COMMAND ...";
  std::string out;
  const size_t columns = static_cast<size_t>(width);
  for (const std::string& line : wrap(text, columns < kTwoColumns ? columns - 4 : columns))
    out += (out.empty() ? "" : "    ") + line + "\n";
  return out;
}

std::string ArgParser::help(int columns) const {
  const auto width = static_cast<size_t>(columns);
  std::string out = usage(columns) + "\n";
  for (const std::string& line : wrap(contents_->description, width)) out += line + "\n";
  if (!contents_->commands.empty()) {
    out += "\nCommands\n";
    for (const Command& c : contents_->commands) append_entry(out, c.name, c.summary, width);
  }
  out += "\nGeneral\n";
  append_entry(out, "-h, --help", "Show this page.", width);
  std::vector<const Option*> refused, naming;
  for (const auto& group : contents_->groups) {
    std::string entries;
    for (const Option& o : group->options) {
      if (o.names_what != Names::kNothing) naming.push_back(&o);
      if (!o.refusal.empty())
        refused.push_back(&o);
      else if (!o.help.empty())
        append_entry(entries, head(o), o.help, width);
    }
    if (entries.empty()) continue;
    if (group->title != "General") out += "\n" + group->title + "\n";
    for (const std::string& line : wrap(group->description, width - 2)) out += "  " + line + "\n";
    out += entries;
  }
  append_names(out, naming, width);
  append_refused(out, refused, width);
  return out;
}

std::string nearest_name(std::string_view word, std::span<const std::string> names) {
  std::string best;
  size_t limit = std::max<size_t>(2, word.size() / 4);
  if (word.size() > 64) return best;
  for (const std::string& name : names)
    if (const size_t d = edit_distance(word, name, limit); d <= limit && (best.empty() || d < limit)) {
      limit = d;
      best = name;
    }
  return best;
}

}  // namespace assay::cli
