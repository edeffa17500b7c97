#include "cli/gen_script/run_script.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/log.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// A device or a pipe, whose name has no extension.
bool is_special(const std::string& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  return fs::is_character_file(status) || fs::is_fifo(status);
}

std::string human_names(const RunLine& line) {
  std::string text;
  for (size_t i = 0; i < line.runners.size(); ++i)
    text += (i == 0 ? "" : i + 1 == line.runners.size() ? " and " : ", ") + line.runners[i].human_name;
  return text;
}

}  // namespace

ScriptLanguage script_language(const std::string& path) {
  if (path == "-" || is_special(path)) return ScriptLanguage::kPython;
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".cpp" || ending == ".cc" || ending == ".cxx") return ScriptLanguage::kCpp;
  for (const char* other : {".c", ".C", ".c++", ".h", ".hh", ".hpp", ".hxx", ".cu"})
    if (ending == other)
      log::critical(
          ErrorCode::kInvalidArgument,
          "--gen-script: the name {} does not say what to write. End it with .cpp, .cc or .cxx for a C++ "
          "program, with .py for a Python script; - writes that to standard output.",
          path);
  return ScriptLanguage::kPython;
}

std::string what_it_does(const RunLine& line) {
  const size_t runners = line.runners.size();
  std::string text =
      runners == 0   ? std::string("Compares saved results.")
      : runners == 1 ? fmt::format("Runs {} using {}.", line.settings.model.path, human_names(line))
                     : fmt::format("Compares {} between {}.", line.settings.model.path, human_names(line));
  if (!line.settings.load_outputs.empty())
    text +=
        fmt::format(" Checks against outputs stored in {}.", fmt::join(line.settings.load_outputs, " and "));
  return text;
}

void write_run_script(const RunLine& line) {
  const std::string path = line.args.text("--gen").value();
  const ScriptLanguage language = script_language(path);
  const std::string text = language == ScriptLanguage::kCpp ? run_script_cpp(line) : run_script_python(line);
  if (path == "-") {
    log::print(text);
    return;
  }
  log::info("Writing script to: {}", path);
  AtomicFile file(path);
  file.write(text);
  if (language == ScriptLanguage::kPython) file.make_executable();
  file.commit();
}

}  // namespace assay::cli
