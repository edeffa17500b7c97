#include "view/saved_report.h"

#include "assay/error.h"
#include "base/json_value.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_saved_report {
namespace {

void run(std::string_view input) {
  const std::optional<SavedKind> kind = saved_kind(input);
  if (!kind || *kind == SavedKind::kResults) return;
  Report report;
  add_saved(report, *kind, input, "input");
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; }, JsonStyle::kScript);
  write_report(json, report);
  require(text.find('<') == std::string::npos, ErrorCode::kInternal, "a text could end the page's element");
  parse_json(text, "the report");
}

std::vector<std::string> seeds() {
  return {
      R"({"iterations":[{"outputs":[{"runner":"r","output":"a","verdict":"WRONG","error":1,"ratio":"inf","pattern":"p"}],)"
      R"("shares":[{"output":"a","share":0.5}],"traced":{"outputs":[{"output":"b","verdict":"agrees"}]}}]})",
      R"([{"count":3},{"name":"a + b","averageMs":1,"medianMs":NaN,"percentage":50}])",
      R"({"traceEvents":[{"ph":"M","name":"thread_name","tid":1,"args":{"name":"t"}},{"ph":"X","name":"e","ts":1,"dur":2,"tid":1}]})",
      R"({"command":"c","rows":[{"shapes":"s","latency_ms":{"median":1}}],"profiles":[{"shapes":"s","layers":[]}]})",
      R"({"lint_entries":[{"level":"warning","message":"</script>","nodes":["n"]}]})",
      R"({"differences":[{"kind":"node","change":"added","what":"w","max_difference":Infinity}]})"};
}

constexpr std::string_view kWords[] = {"\"outputs\":", "\"ph\":", "null",     "NaN", "[", "{",
                                       "1e999",        "\\ud800", "</script>"};

}  // namespace

constinit const Target def = {.name = "saved_report", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_saved_report
