#include "cli/options/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.h"

namespace assay::cli {

std::vector<Option> report_options(std::span<const std::string_view> names) {
  std::vector<Option> options = {
      {.names = {"--junit"},
       .help = "Write the results as JUnit's XML, which continuous integration shows.",
       .metavar = "FILE"}};
  if (!names.empty())
    options.push_back(
        {.names = {"--fail-if"},
         .help = fmt::format("Fail where a condition holds, such as '{}>1e-3'. What is measured: {}.",
                             names.front(), fmt::join(names, ", ")),
         .arity = Arity::kAtLeastOne,
         .metavar = "CONDITION"});
  return options;
}

TestReport::TestReport(const ParsedArgs& args, std::string suite, std::span<const std::string_view> names)
    : suite_(std::move(suite)), path_(args.text("--junit").value_or("")) {
  if (names.empty()) return;
  std::vector<std::string> words;
  for (const std::vector<std::string>& given : args.all("--fail-if"))
    words.insert(words.end(), given.begin(), given.end());
  thresholds_ = Thresholds("--fail-if", words, names);
}

bool TestReport::check(const std::string& group, const std::string& name, const Measured& measured) {
  const std::vector<std::string> reached = thresholds_.reached(measured);
  for (const std::string& sentence : reached) log::error("FAILED | {} | {}: {}", group, name, sentence);
  return reached.empty();
}

void TestReport::save() const {
  if (path_.empty()) return;
  log::info("Saving test results to {}", path_);
  save_junit(suite_, results_, path_);
}

}  // namespace assay::cli
