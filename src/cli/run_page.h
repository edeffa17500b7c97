// A run in the page of --report.
#pragma once

#include <string>

#include "cli/report_page.h"
#include "console/run_summary.h"

namespace assay::cli {

/// Prints a run as RunSummary does, and keeps what a page shows of it.
class PageSummary : public RunSummary {
 public:
  using RunSummary::RunSummary;
  void on_verdict(const Arbitration& verdict, const ArbiterOptions& options, int64_t iteration) override;
  void fill(ReportPage& page, const RunReport& result) const;

 private:
  std::string verdicts_;  ///< JSON, an element for each iteration
};

}  // namespace assay::cli
