#include "console/equivalence_text.h"

#include "base/log.h"
#include "console/verdict_text.h"

namespace assay {

void EquivalenceText::on_trial(int number, const std::string& shapes, std::string_view kind, size_t outputs) {
  log::info("Trial {} | {} | {} | {} output(s)", number, shapes, kind, outputs);
}

void EquivalenceText::on_identical() { log::verbose("    Every element of every output is the original's"); }

void EquivalenceText::on_verdict(const Arbitration& verdict) { print_verdict(verdict, {}); }

}  // namespace assay
