#include "cli/settings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "assay/run.h"
#include "base/log.h"
#include "cli/option_paths.h"
#include "cli/options/engine_building.h"
#include "cli/options/runners.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

using Strings = std::vector<std::string>;
using poly::RunRow;
using poly::RunSettings;

/// Options of which one replaces all the others.
const std::vector<Strings>& replaced_together() {
  static const std::vector<Strings> kSets = {{"-v", "-q", "--verbosity", "--silent"},
                                             {"model_file", "--model-type", "--trt-network-func-name"},
                                             {kProfileOptions[0], kProfileOptions[1], kProfileOptions[2]},
                                             {"--workspace", "--pool-limit"},
                                             {"--tensor-dtypes", "--all-tensor-dtypes"},
                                             {"--data-loader-script", "--load-inputs"},
                                             {"--compare", "--compare-func-script"},
                                             {"--postprocess", "--postprocess-func-script"}};
  return kSets;
}

bool is_runner(const std::string& option, const BackendSet& backends) {
  const RunRow* row = poly::find_run_option(option);
  if (row != nullptr) return row->member == "runners";
  const auto all = backends.all();
  return std::any_of(all.begin(), all.end(), [&](const Backend* b) { return flag_of(*b) == option; });
}

/// The member that an option of `run` sets; empty for those of modules.
std::string_view member_of(const std::string& option, const BackendSet& backends) {
  if (is_runner(option, backends)) return "runners";
  const RunRow* row = poly::find_run_option(option);
  return row != nullptr ? row->member : std::string_view();
}

}  // namespace

SettingsFile::SettingsFile(std::string path, const BackendSet& backends)
    : path_(std::move(path)), settings_(poly::load_run_settings(path_)), backends_(backends) {
  words_ = with_context([&] { return "in " + path_; }, [&] { return words_of(settings_, backends); });
}

void SettingsFile::require_file(const GivenOption& said) const {
  static constexpr std::string_view kScripts[] = {"--data-loader-script",
                                                  "--runner-script",
                                                  "--compare-func-script",
                                                  "--postprocess-func-script",
                                                  "--trt-config-script",
                                                  "--trt-network-postprocess-script",
                                                  "--trt-config-postprocess-script",
                                                  "model_file"};
  const bool is_script = std::find(std::begin(kScripts), std::end(kScripts), said.name) != std::end(kScripts);
  const PathOption* option = find_path_option("run", said.name);
  const bool is_read =
      option != nullptr && (option->use == PathUse::kInput || option->use == PathUse::kInputs ||
                            option->use == PathUse::kInputFolder);
  if (!is_script && !is_read) return;
  for (const std::string& word : said.words) {
    std::error_code ec;
    const size_t colon = word.rfind(':');
    if (std::filesystem::exists(word, ec) ||
        (is_script && colon != std::string::npos && std::filesystem::exists(word.substr(0, colon), ec)))
      continue;
    // A runner may go by a name that a package gives it.
    if (said.name == "--runner-script" && word.find(".py") == std::string::npos) continue;
    throw Error(ErrorCode::kNotFound,
                fmt::format("'{}' names {}, which is not there", member_of(said.name, backends_), word))
        .add_context("in " + path_)
        .set_remedy(fmt::format("Correct the settings, or give {} on the command line.", said.name));
  }
}

ParsedArgs SettingsFile::before(const ParsedArgs& args, const ArgParser& parser) {
  bool replaces_runners = false;
  for (const GivenOption& given : args.occurrences()) {
    replaces_runners = replaces_runners || is_runner(given.name, backends_);
    if (const std::string_view member = member_of(given.name, backends_); !member.empty())
      touched_.emplace(member, given.name);
  }
  used_.clear();
  for (const GivenOption& said : words_.options) {
    if (args.has(said.name) || (replaces_runners && is_runner(said.name, backends_))) continue;
    const auto replaces = [&](const Strings& together) {
      return std::find(together.begin(), together.end(), said.name) != together.end() &&
             std::any_of(together.begin(), together.end(),
                         [&](const std::string& o) { return args.declares(o) && args.has(o); });
    };
    if (std::any_of(replaced_together().begin(), replaced_together().end(), replaces)) continue;
    require_file(said);
    used_.push_back(said);
  }
  for (const std::string_view member : words_.unsaid)
    if (const auto it = touched_.find(spokesman(member)); it != touched_.end())
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' says what no option says, and {} cannot change it", member, it->second))
          .add_context("in " + path_)
          .set_remedy("Leave the option out, or change the settings.");
  try {
    return parser.with_options(args, used_);
  } catch (const UsageError& e) {
    throw Error(ErrorCode::kInvalidArgument, e.what())
        .add_context("with the settings of " + path_)
        .set_remedy("Correct the settings, or leave the option out.");
  }
}

void SettingsFile::explain(std::string_view message) const {
  const GivenOption* longest = nullptr;
  for (const GivenOption& said : used_)
    if (message.find(said.name) != std::string_view::npos &&
        (longest == nullptr || said.name.size() > longest->name.size()))
      longest = &said;
  if (longest == nullptr) return;
  const std::string_view member = member_of(longest->name, backends_);
  log::report_critical(
      "{} is what {} says by '{}'. Correct the settings, or give the option on the command line.",
      longest->name, path_, member.empty() ? "extensions.options" : member);
}

void SettingsFile::complete(RunSettings& settings) const {
  RunSettings all = settings_;
  for (const poly::RunRow* row : poly::run_members())
    if (words_.unsaid.contains(row->member)) {
      const poly::RunMember from = row->at(all);
      std::visit([&](auto* to) { *to = *std::get<std::remove_cvref_t<decltype(to)>>(from); },
                 row->at(settings));
    }
}

}  // namespace assay::cli
