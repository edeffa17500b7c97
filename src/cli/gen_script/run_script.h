// `run --gen-script`: writes a program or script equivalent to the command line.
#pragma once

#include <string>
#include <vector>

#include "assay/run.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/registries.h"
#include "run/comparator.h"

namespace assay::cli {

/// A parsed command line of `run`.
struct RunLine {
  const ParsedArgs& args;
  const Invocation& invocation;
  const Registries& registries;
  const poly::RunSettings& settings;
  const std::vector<RunnerChoice>& runners;
};

enum class ScriptLanguage : uint8_t { kCpp, kPython };
/// The language of the file's extension; Python for `-`, devices and pipes. Throws Error for others.
ScriptLanguage script_language(const std::string& path);

/// `runs MODEL using ONNX-Runtime`, for the first lines.
std::string what_it_does(const RunLine& line);
/// Uses only the public headers.
std::string run_script_cpp(const RunLine& line);
/// Has every option, for the program that was started.
std::string run_script_python(const RunLine& line);

/// Writes the output of --gen-script to standard output or, atomically, to a file. Throws
/// Error.
void write_run_script(const RunLine& line);

}  // namespace assay::cli
