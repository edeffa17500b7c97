// The page of --report: filled by a command while it runs, and written when it ends, however it ends.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "assay/runtime.h"
#include "cli/args.h"
#include "view/page.h"
#include "view/report.h"
#include "view/saved_report.h"

namespace assay::cli {

class ReportPage {
 public:
  Report& report() { return report_; }
  /// Adds what a command would save as a file.
  void add(SavedKind kind, std::string_view text) {
    add_saved(report_, kind, text, std::string(kind_text(kind)));
  }
  /// Shows a graph; a second one stands next to the first. They are kept until the page is written.
  void show(std::shared_ptr<const Model> model, std::string path);
  void show(std::shared_ptr<const Engine> engine, std::string path);
  void show(WritePagePart graph) { graphs_.push_back(std::move(graph)); }
  bool has_graph() const { return !graphs_.empty(); }
  void write(const PageSink& sink) const;

 private:
  Report report_;
  std::vector<WritePagePart> graphs_;
};

void add_report_option(ArgParser& parser);

/// The end of a command.
struct CommandEnd {
  std::string command_line;
  int status = 0;
  double seconds = 0;
  std::string log;
};
/// Completes the page with this, and with the command's model where it has shown none; then writes the file.
/// Throws Error.
void save_report(ReportPage& page, const ParsedArgs& args, const CommandEnd& end);

}  // namespace assay::cli
