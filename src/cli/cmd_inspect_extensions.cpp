// assay inspect extensions: lists modules, their additions, and why one cannot be used.
#include <fmt/format.h>

#include "base/isolated_jobs.h"
#include "base/log.h"
#include "cli/cmd_inspect.h"
#include "cli/options/extensions.h"
#include "cli/options/logging.h"
#include "script/session.h"

namespace assay::cli::command_inspect_extensions {
namespace {

/// A module that takes longer than this to load is considered hung.
constexpr double kPatienceSeconds = 20;

constexpr const char* kPython = "--python";

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Python").options = {
      {.names = {kPython},
       .help =
           "List, too, which runners the packages of the Python interpreter add (ASSAY_PYTHON, or python3).",
       .arity = Arity::kNone},
  };
}

/// A line for the additions of a kind.
template <typename T, typename Text>
void describe(std::string& text, const char* kind, const std::vector<T>& list, Text text_of) {
  for (const T& t : list) text += fmt::format("\n    {}: {}", kind, text_of(t));
}

std::string with_summary(const std::string& what, const char* summary) {
  return summary == nullptr || *summary == '\0' ? what : fmt::format("{} | {}", what, summary);
}

std::string text_of(const extension::Extension& e) {
  std::string text;
  if (!e.info().summary.empty()) text += "\n    " + e.info().summary;
  text += fmt::format("\n    Interface: version {}", e.info().abi);
  describe(text, "Runner", e.runners(), [](const AssayRunner& r) {
    return with_summary(fmt::format("{} ({})", r.option, r.name), r.summary);
  });
  describe(text, "Loader", e.loaders(), [](const AssayLoader& l) {
    return with_summary(l.option != nullptr ? fmt::format("{} ({})", l.option, l.name) : l.name, l.summary);
  });
  describe(text, "Options", e.option_groups(), [](const AssayOptionGroup& g) {
    std::string names;
    for (uint64_t i = 0; i < g.option_count; ++i)
      names += fmt::format("{}{}", i == 0 ? "" : ", ", g.options[i]->names);
    return fmt::format("{}: {}", g.title, names);
  });
  describe(text, "Operator", e.operators(), [](const AssayOperator& o) {
    return fmt::format("{}.{} ({} version(s))", o.domain, o.name, o.version_count);
  });
  describe(text, "Pass", e.passes(), [](const AssayPass& p) { return with_summary(p.name, p.summary); });
  describe(text, "Tactic", e.tactics(), [](const AssayTactic& t) {
    return with_summary(fmt::format("{} (for {})", t.name, t.operators), t.summary);
  });
  describe(text, "Postprocessing", e.postprocesses(),
           [](const AssayPostprocess& p) { return with_summary(p.name, p.summary); });
  describe(text, "Comparison", e.comparisons(),
           [](const AssayComparison& c) { return with_summary(c.name, c.summary); });
  describe(text, "Command", e.commands(),
           [](const AssayCommand& c) { return with_summary(c.name, c.summary); });
  return text;
}

/// The description of one module. The first character tells whether it could be used.
std::string inspect(const extension::Candidate& c) {
  try {
    const std::shared_ptr<extension::Extension> e = extension::Extension::load(c.path);
    Registries registries;
    add_extension(e, registries);
    return fmt::format("+{} {} | {} | from {}{}", e->info().name, e->info().version, e->info().path, c.from,
                       text_of(*e));
  } catch (const Error& e) {
    return fmt::format("-{} | from {}\n    Cannot be used: {}", c.path, c.from, e.what());
  }
}

/// The runners that packages of the user's interpreter add.
std::string python_text() {
  const std::vector<script::EntryPointRunner> runners = script::list_entry_point_runners();
  std::string text = fmt::format("==== Runners of Python Packages ({}) ====\n", runners.size());
  for (const script::EntryPointRunner& r : runners)
    text += fmt::format("\n{} | {} | from {} {} | run with: --runner-script {}\n", r.name, r.value, r.package,
                        r.version, r.name);
  return text;
}

int run(CommandContext& context) {
  const std::vector<std::string> words = [&] {
    std::vector<std::string> list;
    for (const std::vector<std::string>& given : context.args().all("--extension"))
      for (const std::string& path : given) list.insert(list.end(), {"--extension", path});
    if (context.args().has("--no-extensions")) list.emplace_back("--no-extensions");
    return list;
  }();
  const std::vector<extension::Candidate> candidates = extensions_of(words);
  std::vector<std::string> results(candidates.size());
  run_isolated(
      candidates.size(), {.workers = 1, .timeout_seconds = kPatienceSeconds},
      [&](size_t i) { return inspect(candidates[i]); },
      [&](const IsolatedJobResult& r) {
        results[r.job] =
            r.death.empty()
                ? r.text
                : fmt::format("-{} | from {}\n    Cannot be used: while it was loaded, the process {}",
                              candidates[r.job].path, candidates[r.job].from, r.death);
      });
  int failures = 0;
  std::string text;
  for (const std::string& r : results) {
    if (r.empty() || r.front() != '+') ++failures;
    text += "\n" + (r.empty() ? r : r.substr(1)) + "\n";
  }
  if (candidates.empty())
    text =
        "\nNone. They are looked for in ASSAY_EXTENSION_PATH, the user's folder "
        "(~/.local/share/assay/extensions) and the\n"
        "system's (lib/assay/extensions next to the program's folder); --extension names a file.\n";
  log::info("==== Extensions ({}, of which {} cannot be used) ===={}", candidates.size(), failures, text);
  if (context.args().has(kPython)) log::info("{}", python_text());
  return failures == 0 ? 0 : 1;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "extensions",
    .summary = "Show the extension modules that are installed.",
    .description =
        "Shows the extension modules that are installed or named with --extension: what each adds, or why it "
        "cannot be "
        "used. Each is loaded in a process of its own. The exit status is 1 when one cannot be used.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_inspect_extensions
