#include "cli/report_page.h"

#include <fmt/format.h>

#include <filesystem>

#include "assay/error.h"
#include "assay/io.h"
#include "base/log.h"
#include "cli/options/model.h"
#include "cli/page_output.h"
#include "inspect/viewer_payload.h"
#include "run/model_loader.h"

namespace assay::cli {
namespace {

/// The model that the line names, without its weights: a report must not fail for a model that the command
/// could not read.
void show_model(ReportPage& page, const ParsedArgs& args) {
  for (const char* name : {"model_file", "model_a", "--onnx"}) {
    if (!args.declares(name) || !args.has(name)) continue;
    const std::string path = args.text(name).value_or("");
    std::error_code ec;
    if (!std::filesystem::is_regular_file(path, ec) || model_type_of(path) != "onnx") continue;
    try {
      const std::shared_ptr<Model> model = load_model(path, {.ignore_external_data = true});
      infer_known_shapes(*model, /*report=*/false);
      return page.show(model, path);
    } catch (const Error& e) {
      page.report().summary.emplace_back("graph", fmt::format("is not shown: {}", e.what()));
    }
  }
}

}  // namespace

void ReportPage::show(std::shared_ptr<const Model> model, std::string path) {
  graphs_.emplace_back([model = std::move(model), path = std::move(path)](JsonWriter& json) {
    write_model_payload(json, *model, path);
  });
}

void ReportPage::show(std::shared_ptr<const Engine> engine, std::string path) {
  graphs_.emplace_back([engine = std::move(engine), path = std::move(path)](JsonWriter& json) {
    write_engine_payload(json, *engine, path);
  });
}

void ReportPage::write(const PageSink& sink) const {
  PageParts parts{.report = [&](JsonWriter& json) { write_report(json, report_); }};
  if (!graphs_.empty()) parts.model = graphs_[0];
  if (graphs_.size() > 1) parts.other = graphs_[1];
  write_page(parts, sink);
}

void add_report_option(ArgParser& parser) {
  parser.add_group("Report Page").options = {
      {.names = {"--report"},
       .help = "Save what came of it as a page for a browser: one file, which needs no network.",
       .metavar = "FILE.html"}};
}

void save_report(ReportPage& page, const ParsedArgs& args, const CommandEnd& end) {
  Report& report = page.report();
  std::string name = "assay";
  for (const std::string& word : args.commands()) name += " " + word;
  if (report.title.empty()) report.title = name;
  if (report.status.empty()) report.status = end.status == 0 ? "Passed." : "Failed.";
  if (!report.is_good) report.is_good = end.status == 0;
  report.opens_first = true;
  const std::vector<std::pair<std::string, std::string>> head = {
      {"command", end.command_line},
      {"exit status", std::to_string(end.status)},
      {"time", fmt::format("{:.3g} s", end.seconds)}};
  report.summary.insert(report.summary.begin(), head.begin(), head.end());
  if (!page.has_graph()) show_model(page, args);
  report.sections.emplace_back(ReportText{.title = "Log", .text = end.log});
  save_page(args.text("--report").value(), [&](const PageSink& sink) { page.write(sink); });
  log::info("Report saved to {}", args.text("--report").value());
}

}  // namespace assay::cli
