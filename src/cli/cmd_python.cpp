// assay python: runs a script in which `import tensorrt`, `polygraphy` and so on import this library's
// modules, from the Python package of this program.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "assay/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/trace_output.h"
#include "script/interpreter.h"

namespace assay::cli::command_python {
namespace {

/// The package's folder comes first until the package is loaded, then last, so that the script's imports take
/// precedence. The first argument is that folder, or empty.
constexpr const char* kStart = R"(import sys
if sys.version_info < (3, 11): sys.exit(f"[!] assay python: {sys.executable} is Python {sys.version.split()[0]}; 3.11 or newer is needed")
if not sys.flags.safe_path: del sys.path[0]
folder = sys.argv.pop(1)
if folder: sys.path.insert(0, folder)
try:
    from assay.compat.__main__ import main
except ImportError as missing:
    sys.exit(f"[!] assay python: {sys.executable} cannot import the Python package of assay: {missing}\n"
             "    Install it there (pip install assay), or name another interpreter with --python or in ASSAY_PYTHON.")
if folder:
    sys.path.remove(folder)
    sys.path.append(folder)
sys.exit(main(program="assay python")))";

void add_options(ArgParser& parser) {
  parser.add_group("Python").options = {
      {.names = {"--python"},
       .help = "The interpreter, or the folder of a virtual environment. Default: $ASSAY_PYTHON, "
               "$VIRTUAL_ENV, the environment "
               "into which pip installed this program, python3 on PATH.",
       .metavar = "PATH"},
      {.names = {"--real"},
       .help = "Import this package as it is installed; names may be separated by commas, and the option "
               "repeated.",
       .metavar = "NAME"},
      {.names = {"--only-missing"},
       .help = "Installed packages come first; this library's stand for those that are missing.",
       .arity = Arity::kNone},
      {.names = {"--list"}, .help = "Say which file each name comes from.", .arity = Arity::kNone},
      {.names = {"--trace"},
       .help =
           "Save what the script's networks do when, in all threads and child processes. By its ending for "
           "chrome://tracing and Perfetto (.json) or for Perfetto alone (.pftrace).",
       .metavar = "FILE"},
      {.names = {"-m"},
       .help = "Run a module in place of a script.",
       .metavar = "MODULE",
       .begins_remainder = true},
      {.names = {"-c"},
       .help = "Run a text in place of a script.",
       .metavar = "CODE",
       .begins_remainder = true},
      {.names = {"script"},
       .help = "The script, and the arguments that it gets.",
       .arity = Arity::kRemainder,
       .metavar = "SCRIPT.py ARGUMENTS"},
  };
}

/// The arguments of `python -m assay.compat`.
std::vector<std::string> words_for_package(const ParsedArgs& args) {
  std::vector<std::string> words, last;
  for (const GivenOption& given : args.occurrences()) {
    if (given.name == "--python" || given.name == "--trace") continue;
    const bool is_run = given.name == "-m" || given.name == "-c";
    std::vector<std::string>& to = is_run || given.name == "script" ? last : words;
    if (given.name != "script") to.push_back(given.name);
    to.insert(to.end(), given.words.begin(), given.words.end());
  }
  words.insert(words.end(), last.begin(), last.end());
  return words;
}

[[noreturn]] void become(std::vector<char*>& argv) {
  ::execv(argv[0], argv.data());
  Error e(ErrorCode::kIo, fmt::format("cannot start {}: {}", argv[0], std::strerror(errno)));
  throw e.set_remedy("Name an interpreter with --python or in ASSAY_PYTHON.");
}

pid_t script_process = 0;

/// Runs it as a child whose end is waited for, and saves what it did. Signals are for the script.
int run_traced(std::vector<char*>& argv, const std::string& path, const std::string& name) {
  TraceRecording recording(name);
  const pid_t child = ::fork();
  require(child >= 0, ErrorCode::kIo, "cannot start a process for the script: {}", std::strerror(errno));
  if (child == 0) {
    try {
      become(argv);
    } catch (const Error& e) {
      log::report_critical("{}", e.what());
      log::flush();
      ::_exit(1);
    }
  }
  trace::child_started(child, name);
  script_process = child;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, [](int given) {
      if (given != SIGINT) ::kill(script_process, given);  // a terminal sends that one to the script, too
    });
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  trace::child_ended(child, fmt::format("status {}", code));
  recording.save(path);
  return code;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  const std::string interpreter = script::find_interpreter(args.text("--python").value_or(""));
  std::vector<std::string> words = {interpreter, "-c", kStart, script::python_package_of(program).folder};
  for (std::string& word : words_for_package(args)) words.push_back(std::move(word));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  log::flush();
  if (const std::string path = trace_path(args); !path.empty())
    return run_traced(argv, path, context.invocation().command_line);
  become(argv);
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "python",
    .summary = "Run a Python script written for TensorRT, Polygraphy or ONNX-GraphSurgeon.",
    .description =
        "Runs a Python script in which `import tensorrt`, `cuda`, `pycuda`, `polygraphy` and "
        "`onnx_graphsurgeon` give "
        "this library's modules: on the CPU, without a change to the script. See "
        "docs/guide/python-compat.md.",
    .add_options = add_options,
    .run = run,
    .passes_words_on = true,
};

}  // namespace assay::cli::command_python
