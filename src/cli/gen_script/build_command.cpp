#include "cli/gen_script/build_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/script_text.h"

namespace assay::cli {
namespace {

/// Quotes a word for a shell. Line ends would end the comment, so they are shown as blanks.
std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$`!*?()[]{}<>|&;#~=") == std::string::npos &&
      word[0] != '-')
    return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return in_one_line(quoted + "'");
}

}  // namespace

std::string build_command(const std::string& path) {
  const std::filesystem::path file(path == "-" ? "script.cpp" : path);
  // A name that begins with a dash would be an option.
  const auto name = [](const std::string& text) {
    return shell_word((text.starts_with('-') ? "./" : "") + text);
  };
  return fmt::format(
      "// Build it with the installed library (pkg-config finds it by PKG_CONFIG_PATH where it is in a "
      "folder of its own):\n"
      "//   c++ -std=c++20 {} $(pkg-config --cflags --libs assay) -Wl,-rpath,$(pkg-config --variable=libdir "
      "assay) -o {}\n",
      name(file.filename().string()), name(file.stem().string()));
}

}  // namespace assay::cli
