#include "cli/option_paths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>

#include "assay/error.h"
#include "base/input_file.h"
#include "base/log.h"
#include "base/output_path.h"
#include "graph/external_data.h"
#include "run/savers.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

using enum PathUse;

// The first matching entry applies. Positionals that name models are opened before anything else.
constexpr PathOption kPathOptions[] = {
    {"bench", "--load-inputs", kElsewhere},  // NAME:FILE
    {"bench", "--refit-from-onnx", kInput},
    {"template extension", "-o", kElsewhere},  // must not exist
    {"inspect capability", "-o", kOutputFolder},
    {"check lint", "-o", kOutput, Content::kJson},
    {"view", "-o", kOutput, Content::kPage},
    {"data concat", "-o", kOutput, Content::kJson},
    {"data merge", "-o", kOutput, Content::kJson},
    {"data to-input", "-o", kOutput, Content::kJson},
    {"plugin match", "-o", kOutput, Content::kYaml},
    {"template trt-network", "-o", kOutput, Content::kScript},
    {"template trt-config", "-o", kOutput, Content::kScript},
    {"template onnx-gs", "-o", kOutput, Content::kScript},
    {"template shard-hints", "-o", kOutput, Content::kJson},
    {"eval", "-o", kOutput, Content::kJson},
    {"merge", "-o", kOutput},
    {"completion", "-o", kOutputFolder},
    {"convert", "-o", kOutput},  // --convert-to has a say
    {"", "-o", kOutput, Content::kModel},
    {"python", "--python", kElsewhere},  // looked for by find_interpreter()
    {"", "--min-good", kOutput, Content::kModel},
    {"", "--iter-artifact", kElsewhere},  // must not exist
    {"", "--iter-info", kOutput, Content::kJson},
    {"", "--load-debug-replay", kInput},
    {"", "--save-debug-replay", kOutput, Content::kJson},
    {"", "--artifacts", kElsewhere},  // made by the check
    {"", "--art-dir", kOutputFolder},
    {"", "--journal", kUpdate},
    {"debug reduce", "--test-case", kOutputFolder},
    {"debug reduce", "--programs", kOutputFolder},
    {"debug diverge", "--against", kElsewhere},  // models are opened first
    {"debug versions", "--against", kElsewhere},
    {"debug versions", "--libraries", kElsewhere},  // looked at before anything runs
    {"debug versions", "--builds", kElsewhere},
    {"", "--csv", kOutput},
    {"", "--counts", kOutput, Content::kJson},
    {"", "--junit", kOutput},
    {"", "--save-onnx", kOutput, Content::kModel},
    {"", "--save-engine", kOutput, Content::kPlan},
    {"", "--save-tactics", kOutput, Content::kJson},
    {"", "--save-timing-cache", kUpdate},
    {"", "--load-timing-cache", kCache},
    {"", "--timing-cache", kUpdate},
    {"bench", "--tune-build-route-file", kElsewhere},  // read before anything is tuned
    {"bench", "--tuning-cache-file", kUpdate},
    {"", "--calibration-cache", kUpdate},
    {"", "--accuracy-report", kOutput},
    {"", "--layer-times", kInput},
    {"", "--load-tactics", kInput},
    {"", "--calib", kElsewhere},  // read before the build
    {"", "--save-inputs", kOutputs, Content::kJson},
    {"", "--save-outputs", kOutputs, Content::kJson},
    {"", "--save-input-blob", kOutputFolder},
    {"", "--save-accuracy-results", kOutput, Content::kJson},
    {"", "--save-verdict", kOutput, Content::kJson},
    {"", "--save-heatmaps", kOutputFolder},
    {"", "--save-error-metrics-plot", kOutputFolder},
    {"", "--save-pb", kOutput},
    {"", "--save-visual", kOutput, Content::kPage},
    {"", "--gen", kOutput, Content::kScript},
    {"run", "--settings", kInput},
    {"run", "--save-settings", kOutput, Content::kJson},
    {"generate", "--tokens", kInput},
    {"debug diverge", "--tokens", kInput},
    {"eval", "--tokens", kInput},
    {"eval", "--data", kElsewhere},    // it may be FILE:FUNCTION
    {"eval", "--labels", kElsewhere},  // it may be the name of an array
    {"", "--save-worst", kOutputFolder},
    {"", "--metric-script", kElsewhere},  // opened when the options are read
    {"generate", "--save-tokens", kOutput},
    {"", "--json", kOutput, Content::kJson},
    {"", "--export-times", kOutput, Content::kJson},
    {"", "--export-profile", kOutput, Content::kJson},
    {"", "--export-timeline", kOutput, Content::kJson},
    {"", "--export-layer-info", kOutput, Content::kJson},
    {"", "--export-output", kOutput, Content::kJson},
    {"", "--save-config-yaml", kOutput, Content::kYaml},
    {"plugin autotune", "--report", kOutput},
    {"", "--report", kOutput, Content::kPage},
    {"", "--trace", kOutput, Content::kTrace},
    {"", "--log-file", kOutput},
    {"", "--load-inputs", kInputs},
    {"", "--load-outputs", kInputs},
    {"", "--onnx", kElsewhere},  // models are opened first
    {"", "--load-engine", kElsewhere},
    {"", "model_file", kElsewhere},
    {"view", "paths", kElsewhere},  // opened first
    {"", "paths", kInputs},
    {"", "path", kElsewhere},  // the command's subject
    {"", "folders", kElsewhere},
    {"", "tactic_replay", kElsewhere},
    {"", "--dir", kElsewhere},
    {"", "--good", kElsewhere},
    {"", "--bad", kElsewhere},
    {"", "--expected", kInput},
    {"", "--combine-tensor-info", kInput},
    {"", "--config", kInput},
    {"", "-s", kInput},
    {"", "--exclude-list", kInput},
    {"", "--load-config-yaml", kInput},
    {"", "--plugin-dir", kElsewhere},        // the command begins with it
    {"", "--plugin-libraries", kElsewhere},  // one that is missing gets a warning
    {"", "--python-plugins", kElsewhere},
    {"", "--external-data-dir", kInputFolder},
    {"", "--save-external-data", kElsewhere},  // next to the model: check_external_data()
    {"", "--onnxrt-library", kLibrary},
    {"", "--custom-ops", kLibrary},
    {"", "--extension", kElsewhere},  // loaded before the options are read
    // Scripts are opened when the options are read.
    {"", "--runner-script", kElsewhere},
    {"", "--data-loader-script", kElsewhere},
    {"", "--postprocess-func-script", kElsewhere},
    {"", "--compare-func-script", kElsewhere},
    {"", "--trt-config-script", kElsewhere},
    {"", "--trt-network-postprocess-script", kElsewhere},
    {"", "--trt-config-postprocess-script", kElsewhere},
};

struct Ending {
  std::string_view text;
  Content content;
};
constexpr Ending kEndings[] = {
    {".onnx", Content::kModel},    {".onnxtxt", Content::kModel},
    {".txt", Content::kModel},     {".plan", Content::kPlan},
    {".engine", Content::kPlan},   {".trt", Content::kPlan},
    {".json", Content::kJson},     {".yaml", Content::kYaml},
    {".yml", Content::kYaml},      {".py", Content::kScript},
    {".cpp", Content::kScript},    {".cc", Content::kScript},
    {".pftrace", Content::kTrace}, {".perfetto-trace", Content::kTrace},
    {".cxx", Content::kScript},    {".html", Content::kPage},
    {".htm", Content::kPage},
};

const char* name_of(Content content) {
  switch (content) {
    case Content::kModel:
      return "an ONNX model";
    case Content::kPlan:
      return "the plan of an engine";
    case Content::kJson:
      return "JSON";
    case Content::kYaml:
      return "YAML";
    case Content::kScript:
      return "a program";
    case Content::kPage:
      return "a page of HTML";
    case Content::kTrace:
      return "a timeline";
    case Content::kAny:
      break;
  }
  return "a file";
}

/// True when only a known extension is accepted. Reports may have any extension that does not mislead.
bool needs_ending(Content content) { return content == Content::kModel || content == Content::kPlan; }

std::string command_of(const ParsedArgs& args) {
  // Under the name `trtexec` there is only one.
  return args.commands().empty() ? "bench" : fmt::format("{}", fmt::join(args.commands(), " "));
}

void check_readable(const std::string& path) { open_input(path); }

void check_cache(const std::string& path) {
  std::error_code ec;
  if (fs::exists(path, ec)) check_readable(path);
}

/// The file is appended to, so its folder need not be writable if it exists.
void check_log_file(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && !S_ISDIR(st.st_mode) && ::access(path.c_str(), W_OK) == 0) return;
  check_output_file(path);
}

void check_inputs(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return check_readable(path);
  require(::access(path.c_str(), R_OK | X_OK) == 0, ErrorCode::kIo, "cannot read the folder {}: {}", path,
          std::strerror(errno));
}

void check_input_folder(const std::string& path) {
  struct stat st {};
  const int found = ::stat(path.c_str(), &st);
  const int error = errno;
  require(found == 0, ErrorCode::kNotFound, "cannot read the folder {}: {}", path, std::strerror(error));
  require(S_ISDIR(st.st_mode), ErrorCode::kIo, "cannot read the folder {}: it is {}", path,
          kind_of_file(st.st_mode));
}

void check_one(const PathOption& o, const std::string& path) {
  switch (o.use) {
    case kInput:
      return check_readable(path);
    case kInputs:
      return check_inputs(path);
    case kInputFolder:
      return check_input_folder(path);
    case kCache:
      return check_cache(path);
    case kUpdate:
      check_cache(path);
      return check_output_file(path);
    case kOutput:
      return o.option == "--log-file" ? check_log_file(path) : check_output_file(path);
    case kOutputs:
      return means_folder(path) ? check_output_folder(path) : check_output_file(path);
    case kOutputFolder:
      return check_output_folder(path);
    case kLibrary:
      if (path.find('/') != std::string::npos) check_readable(path);
      return;
    case kElsewhere:
      return;
  }
}

bool writes_file(const PathOption& o, const std::string& path) {
  return o.use == kOutput || o.use == kUpdate || (o.use == kOutputs && !means_folder(path));
}

/// The files that a command line writes, with their options.
class WrittenFiles {
 public:
  void add(const PathOption& o, const std::string& label, const std::string& path) {
    if (!writes_file(o, path) || is_special_file(path)) return;
    const auto [other, is_new] = files_.emplace(normal_path(path), Writer{&o, label});
    // Options that save results report it in upstream's words.
    if (is_new || other->second.option == &o || (o.use == kOutputs && other->second.option->use == kOutputs))
      return;
    fail(ErrorCode::kInvalidArgument, "{} and {} both write {}", other->second.label, label, path);
  }

 private:
  struct Writer {
    const PathOption* option;
    std::string label;
  };
  static std::string normal_path(const std::string& path) {
    std::error_code ec;
    const fs::path p = fs::weakly_canonical(fs::absolute(path, ec), ec);
    return ec ? path : p.lexically_normal().string();
  }
  std::map<std::string, Writer> files_;
};

void check_ending(const PathOption& o, const std::string& label, const std::string& path) {
  if (o.content == Content::kAny || is_special_file(path)) return;
  const Content ending = content_of_ending(path);
  if (ending == o.content || (ending == Content::kAny && !needs_ending(o.content))) return;
  if (o.content == Content::kTrace && ending == Content::kJson) return;
  // The text form of ONNX shares an extension with any text.
  if (ending == Content::kModel && path.ends_with(".txt") && o.content != Content::kPlan) return;
  Error e(ErrorCode::kInvalidArgument,
          ending == Content::kAny
              ? fmt::format("{}: the ending of {} does not say what to write", label, path)
              : fmt::format("{} writes {}, but the ending of {} is that of {}", label, name_of(o.content),
                            path, name_of(ending)));
  throw e.set_remedy(fmt::format("The endings of {} are {}.", name_of(o.content), endings_text(o.content)));
}

std::string label_of(const ParsedArgs& args, std::string_view option) {
  for (const Option* given : args.given())
    if (given->names.front() == option) return given->label();
  return std::string(option);
}

/// The file written next to the model, if requested.
void check_external_data(const ParsedArgs& args) {
  if (!args.declares("--save-external-data")) return;
  const auto occurrences = args.all("--save-external-data");
  if (occurrences.empty()) return;
  for (const char* option : {"-o", "--save-onnx"}) {
    const auto model = args.declares(option) ? args.text(option) : std::nullopt;
    if (!model || find_path_option(command_of(args), option)->use != kOutput) continue;
    const std::string location =
        external_data_location(*model, occurrences.front().empty() ? "" : occurrences.front().front());
    check_output_file((fs::path(*model).parent_path() / location).string());
  }
}

}  // namespace

std::span<const PathOption> path_options() { return kPathOptions; }

const PathOption* find_path_option(std::string_view command, std::string_view option) {
  for (const PathOption& o : kPathOptions)
    if (o.option == option && (o.command.empty() || o.command == command)) return &o;
  return nullptr;
}

Content content_of_ending(std::string_view path) {
  for (const Ending& e : kEndings)
    if (path.size() > e.text.size() && path.ends_with(e.text)) return e.content;
  return Content::kAny;
}

std::string endings_text(Content content) {
  if (content == Content::kModel) return ".onnx (binary), .onnxtxt and .txt (ONNX's text form)";
  if (content == Content::kTrace)
    return ".json (Chrome's trace events), .pftrace and .perfetto-trace (Perfetto)";
  std::vector<std::string_view> endings;
  for (const Ending& e : kEndings)
    if (e.content == content) endings.push_back(e.text);
  return fmt::format("{}", fmt::join(endings, ", "));
}

void check_option_path(const ParsedArgs& args, std::string_view option) {
  const PathOption* o = find_path_option(command_of(args), option);
  for (const GivenOption& given : args.occurrences()) {
    if (o == nullptr || given.name != option) continue;
    for (const std::string& path : given.words) {
      check_one(*o, path);
      if (!args.is_upstream()) check_ending(*o, label_of(args, option), path);
    }
  }
}

void check_option_paths(const ParsedArgs& args, std::span<const std::string> without_effect) {
  const std::string command = command_of(args);
  WrittenFiles written;
  for (const GivenOption& given : args.occurrences()) {
    const PathOption* o = find_path_option(command, given.name);
    if (o == nullptr ||
        std::find(without_effect.begin(), without_effect.end(), given.name) != without_effect.end())
      continue;
    const std::string label = label_of(args, given.name);
    for (const std::string& path : given.words) {
      if (path == "-" && o->content == Content::kScript) continue;  // standard output
      check_one(*o, path);
      if (!args.is_upstream()) check_ending(*o, label, path);
      written.add(*o, label, path);
    }
  }
  check_external_data(args);
}

}  // namespace assay::cli
