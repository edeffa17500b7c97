// `run --gen-script`: a program or a script that does what the command line says.
#pragma once

#include <string>
#include <vector>

#include "assay/run.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/registries.h"
#include "run/comparator.h"

namespace assay::cli {

/// A command line of `run`, read.
struct RunLine {
  const ParsedArgs& args;
  const Invocation& invocation;
  const Registries& registries;
  const poly::RunSettings& settings;
  const std::vector<RunnerChoice>& runners;
};

enum class ScriptLanguage : uint8_t { kCpp, kPython };
/// What the file's ending says; `-`, devices and pipes get Python. Throws Error for another one.
ScriptLanguage script_language(const std::string& path);

/// `runs MODEL using ONNX-Runtime`, for the first lines.
std::string what_it_does(const RunLine& line);
/// On the public headers alone.
std::string run_script_cpp(const RunLine& line);
/// With every option, for the program that was started.
std::string run_script_python(const RunLine& line);

/// Writes what --gen-script asks for: standard output, or a file that appears whole or not at all. Throws
/// Error.
void write_run_script(const RunLine& line);

}  // namespace assay::cli
