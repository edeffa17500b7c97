#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/python_repr.h"
#include "base/utf8.h"
#include "cli/gen_script/run_script.h"
#include "cli/options/extensions.h"
#include "cli/options/resources.h"
#include "cli/script_text.h"

namespace assay::cli {
namespace {

/// The program as the script starts it: its name if PATH finds it, else its path.
std::string program_of(const Invocation& invocation) {
  if (invocation.path.find('/') == std::string::npos) return invocation.path;
  return std::filesystem::absolute(invocation.path).lexically_normal().string();
}

/// A string literal for a word of a command line; bytes that are not UTF-8 are escaped as Python's
/// os.fsdecode() does.
std::string word_literal(std::string_view word) {
  std::string literal = "\"";
  while (!word.empty()) {
    const std::string_view rest = word;
    const char32_t point = take_code_point(word);
    if (point == kNotUtf8) {
      // One byte at a time, as Python does.
      word = rest.substr(1);
      literal += fmt::format("\\udc{:02x}", static_cast<unsigned char>(rest[0]));
    } else {
      const std::string quoted = python_str_repr(rest.substr(0, rest.size() - word.size()));
      literal += point == U'"' ? "\\\"" : quoted.substr(1, quoted.size() - 2);
    }
  }
  return literal + "\"";
}

std::string list_literal(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word_literal(word);
  return "[" + list + "]";
}

/// The words of an option as a list in Python. A value that begins with a dash would be parsed as an option.
std::string words_of(const GivenOption& given) {
  if (given.words.size() == 1 && given.words.front().starts_with('-'))
    return list_literal({given.name + "=" + given.words.front()});
  std::vector<std::string> words = {given.name};
  words.insert(words.end(), given.words.begin(), given.words.end());
  return list_literal(words);
}

std::string first_sentence(const std::string& help) {
  const size_t end = help.find_first_of(".;:");
  return in_one_line(help.substr(0, end));
}

/// The given options of a group, one per line, in order.
std::string group_text(const OptionGroup& group, const ParsedArgs& args) {
  std::string text;
  for (const GivenOption& given : args.occurrences()) {
    if (given.name == "--gen" || given.name == "--settings" || given.name == "--save-settings") continue;
    const auto option = std::find_if(group.options.begin(), group.options.end(),
                                     [&](const Option& o) { return o.names.front() == given.name; });
    if (option == group.options.end() || option->is_positional()) continue;
    const std::string help = first_sentence(option->help);
    text += fmt::format("    {},{}\n", words_of(given), help.empty() ? "" : "  # " + help);
  }
  return text.empty() ? text : fmt::format("    # {}\n{}", in_one_line(group.title), text);
}

std::string positionals(const ArgParser& parser, const ParsedArgs& args) {
  std::vector<std::string> words;
  for (const OptionGroup* group : parser.groups())
    for (const Option& o : group->options)
      if (o.is_positional())
        for (const std::string& word : args.list(o.names.front()).value_or(std::vector<std::string>()))
          words.push_back(word.starts_with('-') ? "./" + word : word);
  return list_literal(words);
}

}  // namespace

std::string run_script_python(const RunLine& line) {
  ArgParser parser("", "");
  command_run::def.add_options(parser, line.registries, command_run::def);
  add_extension_options(parser);
  add_resource_options(parser);
  std::string options;
  for (const OptionGroup* group : parser.groups()) options += group_text(*group, line.args);
  return fmt::format(
      "#!/usr/bin/env python3\n"
      "# {}\n"
      "# Made by: {}\n"
      "# Needs Python's standard library and the program alone. Ends with the program's exit code: 0 when "
      "all is well,\n"
      "# 1 when something differs or fails, 3 when the verdict is unclear.\n"
      "import os\n"
      "import subprocess\n"
      "import sys\n"
      "\n"
      "# The program; ASSAY in the environment names another one.\n"
      "ASSAY = os.environ.get(\"ASSAY\", {})\n"
      "\n"
      "# The model.\n"
      "MODEL = {}\n"
      "\n"
      "# Options, each with its words. The order counts among runners, and between uses of one option.\n"
      "OPTIONS = [\n"
      "{}"
      "]\n"
      "\n"
      "\n"
      "def command():\n"
      "    \"\"\"The command line as a list of words.\"\"\"\n"
      "    return [ASSAY, \"run\", *MODEL, *(word for option in OPTIONS for word in option)]\n"
      "\n"
      "\n"
      "def main():\n"
      "    try:\n"
      "        status = subprocess.run(command(), check=False).returncode\n"
      "    except OSError as error:\n"
      "        sys.exit(f\"{{ASSAY}} cannot be started: {{error}}. ASSAY in the environment names the "
      "program.\")\n"
      "    # A signal that ended the program is told as shells tell it.\n"
      "    return status if status >= 0 else 128 - status\n"
      "\n"
      "\n"
      "if __name__ == \"__main__\":\n"
      "    sys.exit(main())\n",
      in_one_line(what_it_does(line)), in_one_line(line.invocation.command_line),
      word_literal(program_of(line.invocation)), positionals(parser, line.args), options);
}

}  // namespace assay::cli
