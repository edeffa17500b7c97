#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "assay/error.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

/// The words that can follow those of a command.
struct Place {
  std::string path;  ///< assay run
  Words commands, summaries;
  std::vector<const Option*> options;
};

/// Keeps the parsers that the options belong to.
struct Places {
  std::vector<ArgParser> parsers;
  std::vector<Place> all;
};

void collect(const ArgParser& parser, Places& places) {
  Place place{.path = parser.program()};
  const auto commands = parser.commands();
  for (const auto& [inner, summary] : commands) {
    place.commands.push_back(inner.program().substr(inner.program().rfind(' ') + 1));
    place.summaries.push_back(summary);
  }
  places.parsers.push_back(parser);
  for (const OptionGroup* group : parser.groups())
    for (const Option& o : group->options)
      if (!o.is_positional() && !o.help.empty() && o.refusal.empty()) place.options.push_back(&o);
  places.all.push_back(std::move(place));
  for (const auto& [inner, summary] : commands) collect(inner, places);
}

Words names_of(const Place& place) {
  Words names = {"--help"};
  for (const Option* o : place.options) names.insert(names.end(), o->names.begin(), o->names.end());
  return names;
}

/// In single quotes, for any shell.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// The first sentence, which fits next to a name.
std::string brief(const std::string& help) {
  const size_t end = help.find(". ");
  std::string text = help.substr(0, end == std::string::npos ? help.size() : end);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// The function in which bash and zsh find the command that the words before belong to.
std::string path_loop(const Places& places, std::string_view words, std::string_view first,
                      std::string_view end) {
  Words known;
  for (const Place& place : places.all)
    for (const std::string& c : place.commands) known.push_back(fmt::format("\"{} {}\"", place.path, c));
  return fmt::format(
      "  local place={} i\n"
      "  for ((i = {}; i < {}; i++)); do\n"
      "    case \"$place ${{{}[i]}}\" in\n"
      "      {}) place=\"$place ${{{}[i]}}\" ;;\n"
      "    esac\n"
      "  done\n",
      places.all.front().path, first, end, words, fmt::join(known, " | "), words);
}

/// `"assay run --log-format") ... ;;` for the options whose words are known.
std::string choice_cases(const Places& places, std::string_view before, std::string_view after) {
  std::string text;
  for (const Place& place : places.all)
    for (const Option* o : place.options) {
      if (o->choices.empty()) continue;
      Words patterns;
      for (const std::string& n : o->names) patterns.push_back(fmt::format("\"{} {}\"", place.path, n));
      text += fmt::format("    {}) {}{}{} ;;\n", fmt::join(patterns, " | "), before,
                          shell_quoted(fmt::format("{}", fmt::join(o->choices, " "))), after);
    }
  return text;
}

std::string bash_script(const Places& places) {
  std::string text =
      "# Completion of assay in bash: source it, or put it where bash-completion looks.\n"
      "_assay() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options='' commands=''\n" +
      path_loop(places, "COMP_WORDS", "1", "COMP_CWORD") + "  case \"$place $prev\" in\n" +
      choice_cases(places, "COMPREPLY=($(compgen -W ", " -- \"$cur\")); return") +
      "  esac\n"
      "  case \"$place\" in\n";
  for (const Place& place : places.all)
    text += fmt::format("    \"{}\") options={} commands={} ;;\n", place.path,
                        shell_quoted(fmt::format("{}", fmt::join(names_of(place), " "))),
                        shell_quoted(fmt::format("{}", fmt::join(place.commands, " "))));
  return text +
         "  esac\n"
         "  if [[ $cur == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
         "  elif [[ -n $commands ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n"
         "  else\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    local IFS=$'\\n'\n"
         "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "  fi\n"
         "}\n"
         "complete -F _assay assay\n";
}

/// `name:description`, as _describe takes it.
std::string described(const std::string& name, const std::string& help) {
  std::string text;
  for (const char c : name) text += c == ':' ? "\\:" : std::string(1, c);
  return shell_quoted(text + ":" + brief(help));
}

std::string zsh_script(const Places& places) {
  std::string text =
      "#compdef assay\n"
      "# Completion of assay in zsh: put it into a folder of $fpath as _assay.\n"
      "_assay() {\n"
      "  local -a options commands\n" +
      path_loop(places, "words", "2", "CURRENT") + "  case \"$place ${words[CURRENT-1]}\" in\n" +
      choice_cases(places, "compadd -- ${(z)$(print -r -- ", ")}; return") + "  esac\n  case \"$place\" in\n";
  for (const Place& place : places.all) {
    Words options = {described("--help", "Show the page")}, commands;
    for (const Option* o : place.options)
      for (const std::string& n : o->names) options.push_back(described(n, o->help));
    for (size_t i = 0; i < place.commands.size(); ++i)
      commands.push_back(described(place.commands[i], place.summaries[i]));
    text += fmt::format("    \"{}\")\n      options=({})\n      commands=({}) ;;\n", place.path,
                        fmt::join(options, " "), fmt::join(commands, " "));
  }
  return text +
         "  esac\n"
         "  if [[ ${words[CURRENT]} == -* ]]; then\n"
         "    _describe option options\n"
         "  elif (( ${#commands} )); then\n"
         "    _describe command commands\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "if [[ ${funcstack[1]} == _assay ]]; then _assay \"$@\"; else compdef _assay assay; fi\n";
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_option(const Place& place, const Option& o) {
  std::string text =
      fmt::format("complete -c assay -n {}", fish_quoted(fmt::format("__assay_at '{}'", place.path)));
  for (const std::string& n : o.names)
    text += n.starts_with("--") ? " -l " + n.substr(2)
            : n.size() == 2     ? " -s " + n.substr(1)
                                : " -o " + n.substr(1);
  if (o.arity != Arity::kNone) text += " -r";
  if (!o.choices.empty())
    text += fmt::format(" -f -a {}", fish_quoted(fmt::format("{}", fmt::join(o.choices, " "))));
  return text + " -d " + fish_quoted(brief(o.help)) + "\n";
}

std::string fish_script(const Places& places) {
  Words known;
  for (const Place& place : places.all)
    for (const std::string& c : place.commands) known.push_back(shell_quoted(place.path + " " + c));
  std::string text = fmt::format(
      "# Completion of assay in fish: put it into ~/.config/fish/completions as assay.fish.\n"
      "function __assay_at\n"
      "  set -l place {}\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if contains -- \"$place $word\" {}\n"
      "      set place \"$place $word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$place\" = \"$argv[1]\"\n"
      "end\n",
      places.all.front().path, fmt::join(known, " "));
  for (const Place& place : places.all) {
    for (size_t i = 0; i < place.commands.size(); ++i)
      text += fmt::format("complete -c assay -f -n {} -a {} -d {}\n",
                          fish_quoted(fmt::format("__assay_at '{}'", place.path)), place.commands[i],
                          fish_quoted(place.summaries[i]));
    for (const Option* o : place.options) text += fish_option(place, *o);
  }
  return text;
}

// ---- the manual

/// Text that roff takes as it is.
std::string roff(const std::string& text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begins_line = c == '\n';
  }
  return out;
}

std::string option_entry(const Option& o) {
  const std::string names = o.is_positional() ? (o.metavar.empty() ? o.names.front() : o.metavar)
                                              : fmt::format("{}", fmt::join(o.names, ", "));
  std::string value;
  if (!o.is_positional() && o.arity != Arity::kNone)
    value = " " + (o.metavar.empty() ? (o.choices.empty() ? std::string("VALUE")
                                                          : fmt::format("{}", fmt::join(o.choices, "|")))
                                     : o.metavar);
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(names), roff(value), roff(o.help));
}

std::string page_name(const ArgParser& parser) {
  std::string name = parser.program();
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string page_text(const ArgParser& parser, const std::string& summary, const std::string& version) {
  std::string text = fmt::format(".TH {} 1 \"\" \"assay {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                                 page_name(parser), version, roff(page_name(parser)), roff(brief(summary)));
  std::string usage = parser.usage(10000);
  usage = usage.substr(usage.find(' ') + 1);
  text += fmt::format(".SH SYNOPSIS\n{}.SH DESCRIPTION\n{}\n", roff(usage), roff(parser.description()));
  const auto commands = parser.commands();
  if (!commands.empty()) text += ".SH COMMANDS\n";
  for (const auto& [inner, about] : commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(page_name(inner)), roff(about));
  text += ".SH OPTIONS\n";
  for (const OptionGroup* group : parser.groups()) {
    std::string entries;
    for (const Option& o : group->options)
      if (!o.help.empty() && o.refusal.empty()) entries += option_entry(o);
    if (entries.empty()) continue;
    text += fmt::format(".SS {}\n", roff(group->title));
    if (!group->description.empty()) text += roff(group->description) + "\n";
    text += entries;
  }
  return text;
}

void add_pages(const ArgParser& parser, const std::string& summary, const std::string& version,
               std::vector<std::pair<std::string, std::string>>& pages) {
  pages.emplace_back(page_name(parser) + ".1", page_text(parser, summary, version));
  for (const auto& [inner, about] : parser.commands()) add_pages(inner, about, version, pages);
}

}  // namespace

std::string completion_script(const ArgParser& program, std::string_view shell) {
  Places places;
  collect(program, places);
  if (shell == "bash") return bash_script(places);
  if (shell == "zsh") return zsh_script(places);
  if (shell == "fish") return fish_script(places);
  fail(ErrorCode::kInvalidArgument, "there is no completion for {}; there is for bash, zsh and fish", shell);
}

std::vector<std::pair<std::string, std::string>> manual_pages(const ArgParser& program,
                                                              const std::string& version) {
  std::vector<std::pair<std::string, std::string>> pages;
  add_pages(program, program.description(), version, pages);
  return pages;
}

}  // namespace assay::cli
