#include "view/saved_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "assay/error.h"
#include "base/json_reader.h"
#include "base/json_value.h"

namespace assay {
namespace {

using Kind = ReportColumn::Kind;
using Combine = ReportMetric::Combine;

/// The words of a verdict, from good to bad (verdict_name()).
const std::vector<std::string> kVerdicts = {"agrees",  "rounding only", "left open by ONNX", "inherited",
                                            "unclear", "cannot tell",   "not judged",        "WRONG"};

/// A number, also one of those that JSON has no word for and verdicts write as texts.
std::optional<double> measured(const JsonValue& object, std::string_view key) {
  const JsonValue* v = object.find(key);
  if (v == nullptr) return std::nullopt;
  if (v->kind == JsonValue::Kind::kNumber) return v->number;
  if (v->text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (v->text == "inf") return std::numeric_limits<double>::infinity();
  if (v->text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

ReportCell number_cell(const JsonValue& object, std::string_view key) {
  const std::optional<double> number = measured(object, key);
  return number ? ReportCell(*number) : ReportCell();
}

size_t badness(const JsonValue& output) {
  const auto found = std::find(kVerdicts.begin(), kVerdicts.end(), output.text_of("verdict"));
  return found == kVerdicts.end() ? 0 : static_cast<size_t>(found - kVerdicts.begin());
}

/// The remarks of a verdict on one output, in a sentence's length.
std::string remark_on(const JsonValue& output) {
  std::string text = output.text_of("problem");
  for (const char* key : {"likely_cause", "pattern", "note"}) {
    const std::string more = output.text_of(key);
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  }
  return text;
}

/// The verdict on an iteration, with every layer where those were judged.
const JsonValue& judged_layers(const JsonValue& iteration) {
  const JsonValue* traced = iteration.find("traced");
  return traced != nullptr && traced->is_object() ? *traced : iteration;
}

/// A number of each judged output as a metric.
void add_metric(Report& report, const JsonValue& iteration, const char* key, const char* title) {
  auto& numbers = report.metric(key, title, "", Combine::kMax).numbers;
  for (const JsonValue& o : judged_layers(iteration).items_of("outputs"))
    if (const std::optional<double> number = measured(o, key))
      numbers.emplace_back(o.text_of("output"), *number);
}

void add_verdict_metrics(Report& report, const JsonValue& iteration) {
  ReportMetric& verdicts = report.metric("verdict", "verdict", "", Combine::kMax);
  verdicts.words = kVerdicts;
  for (const JsonValue& o : judged_layers(iteration).items_of("outputs"))
    verdicts.named.emplace_back(o.text_of("output"), o.text_of("verdict"));
  add_metric(report, iteration, "error", "error on its own inputs");
  add_metric(report, iteration, "ratio", "error in terms of what rounding explains");
  if (iteration.items_of("shares").empty()) return;
  auto& shares = report.metric("share", "share of the final error", "%", Combine::kMax).numbers;
  for (const JsonValue& s : iteration.items_of("shares"))
    shares.emplace_back(s.text_of("output"), 100 * s.number_of("share"));
}

void add_shares(Report& report, const JsonValue& iteration) {
  const std::vector<JsonValue>& shares = iteration.items_of("shares");
  if (shares.empty()) return;
  ReportTable table{.title = "Where the final error comes from",
                    .columns = {{"node", Kind::kNode},
                                {"operator"},
                                {"runner"},
                                {"share", Kind::kNumber, "%"},
                                {"own error", Kind::kNumber},
                                {"computed in"}}};
  for (const JsonValue& s : shares)
    table.rows.push_back({s.text_of("output"), s.text_of("op_type"), s.text_of("runner"),
                          100 * s.number_of("share"), number_cell(s, "own_error"), s.text_of("computed_in")});
  report.sections.emplace_back(std::move(table));
}

void add_verdict(Report& report, const JsonValue& document) {
  std::map<size_t, int64_t> counts;
  std::vector<std::pair<const JsonValue*, int64_t>> outputs;
  int64_t number = 0;
  for (const JsonValue& iteration : document.items_of("iterations")) {
    for (const JsonValue& o : judged_layers(iteration).items_of("outputs")) outputs.emplace_back(&o, number);
    for (const JsonValue& o : iteration.items_of("outputs")) ++counts[badness(o)];
    add_verdict_metrics(report, iteration);
    ++number;
  }
  std::stable_sort(outputs.begin(), outputs.end(), [](const auto& a, const auto& b) {
    const size_t x = badness(*a.first), y = badness(*b.first);
    return x != y ? x > y : a.first->number_of("ratio") > b.first->number_of("ratio");
  });
  std::string sums;
  for (auto c = counts.rbegin(); c != counts.rend(); ++c)
    sums += fmt::format("{}{} {}", sums.empty() ? "" : ", ", c->second, kVerdicts[c->first]);
  const bool is_wrong = counts.contains(kVerdicts.size() - 1);
  report.summary.emplace_back("verdicts", sums);
  if (report.status.empty()) report.status = is_wrong ? "Something is wrong." : "Nothing is wrong.";
  if (!report.is_good || is_wrong) report.is_good = !is_wrong;
  ReportTable table{
      .title = "Verdicts",
      .note = "The worst first: error in terms of what rounding explains, on the basis that is named.",
      .columns = {{"output", Kind::kNode},
                  {"node"},
                  {"runner"},
                  {"verdict"},
                  {"basis"},
                  {"error", Kind::kNumber},
                  {"of what rounding explains", Kind::kNumber},
                  {"elements beyond", Kind::kNumber},
                  {"remark"}}};
  for (const auto& [o, iteration] : outputs)
    table.rows.push_back({o->text_of("output"), o->text_of("node"), o->text_of("runner"),
                          o->text_of("verdict"), o->text_of("basis"), number_cell(*o, "error"),
                          number_cell(*o, "ratio"), number_cell(*o, "unexplained_elements"), remark_on(*o)});
  report.sections.emplace_back(std::move(table));
  for (const JsonValue& iteration : document.items_of("iterations")) add_shares(report, iteration);
}

/// Layers with their times, as profiles and measurements list them.
void add_layers(Report& report, const std::vector<JsonValue>& layers, const std::string& title,
                const std::string& note) {
  ReportTable table{.title = title,
                    .note = note,
                    .columns = {{"layer", Kind::kNode},
                                {"mean", Kind::kNumber, "ms"},
                                {"median", Kind::kNumber, "ms"},
                                {"share", Kind::kNumber, "%"}}};
  ReportMetric& time = report.metric("time", "time", "ms", Combine::kSum);
  for (const JsonValue& layer : layers) {
    const std::string name = layer.text_of("name");
    if (name.empty()) continue;
    table.rows.push_back({name, number_cell(layer, "averageMs"), number_cell(layer, "medianMs"),
                          number_cell(layer, "percentage")});
    time.numbers.emplace_back(name, layer.number_of("averageMs"));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    const auto value = [](const ReportCell& c) {
      const double* v = std::get_if<double>(&c);
      return v != nullptr && !std::isnan(*v) ? *v : -1.0;
    };
    return value(a[1]) > value(b[1]);
  });
  report.sections.emplace_back(std::move(table));
}

void add_profile(Report& report, const JsonValue& document) {
  const double runs = document.items.empty() ? 0 : document.items[0].number_of("count");
  add_layers(report, document.items, "Times of layers", fmt::format("In {:g} runs.", runs));
}

void add_trace(Report& report, const JsonValue& document) {
  const std::vector<JsonValue>& events =
      document.is_array() ? document.items : document.items_of("traceEvents");
  ReportTimeline timeline{.title = "Timeline"};
  std::map<std::pair<double, double>, size_t> thread_of;
  const auto thread = [&](const JsonValue& e) {
    const std::pair<double, double> key(e.number_of("pid"), e.number_of("tid"));
    const auto [place, is_new] = thread_of.emplace(key, timeline.threads.size());
    if (is_new) timeline.threads.push_back(fmt::format("thread {:g}", key.second));
    return place->second;
  };
  for (const JsonValue& e : events) {
    const std::string phase = e.text_of("ph");
    if (phase == "M" && e.text_of("name") == "thread_name") {
      const JsonValue* args = e.find("args");
      if (args != nullptr) timeline.threads[thread(e)] = args->text_of("name");
    }
    if (phase == "X")
      timeline.events.push_back({thread(e), e.number_of("ts"), e.number_of("dur"), e.text_of("name")});
  }
  report.timelines.push_back(std::move(timeline));
}

void add_bench(Report& report, const JsonValue& document) {
  ReportTable table{.title = "Measurements",
                    .columns = {{"shapes"},
                                {"backend"},
                                {"runs", Kind::kNumber},
                                {"throughput (1/s)", Kind::kNumber},
                                {"median", Kind::kNumber, "ms"},
                                {"mean", Kind::kNumber, "ms"},
                                {"least", Kind::kNumber, "ms"},
                                {"largest", Kind::kNumber, "ms"},
                                {"peak memory", Kind::kNumber, "B"}}};
  for (const JsonValue& row : document.items_of("rows")) {
    const JsonValue none, *latency = row.find("latency_ms");
    const JsonValue& l = latency != nullptr ? *latency : none;
    table.rows.push_back({row.text_of("shapes"), row.text_of("backend"), number_cell(row, "runs"),
                          number_cell(row, "throughput_qps"), number_cell(l, "median"),
                          number_cell(l, "mean"), number_cell(l, "min"), number_cell(l, "max"),
                          number_cell(row, "peak_memory_bytes")});
  }
  for (const char* key : {"command", "processor"})
    if (const std::string text = document.text_of(key); !text.empty()) report.summary.emplace_back(key, text);
  report.sections.emplace_back(std::move(table));
  for (const JsonValue& p : document.items_of("profiles"))
    add_layers(report, p.items_of("layers"), "Times of layers",
               fmt::format("{}, {:g} runs.", p.text_of("shapes"), p.number_of("runs")));
}

void add_findings(Report& report, const JsonValue& document) {
  ReportTable table{.title = "Findings",
                    .columns = {{"level"}, {"rule"}, {"node", Kind::kNode}, {"message"}, {"source"}}};
  ReportMetric& levels = report.metric("finding", "finding", "", Combine::kMax);
  levels.words = {"info", "warning", "exception"};
  bool is_valid = true;
  for (const JsonValue& f : document.items_of("lint_entries")) {
    const std::string level = f.text_of("level");
    std::vector<std::string> nodes;
    for (const JsonValue& n : f.items_of("nodes")) nodes.push_back(n.text);
    is_valid = is_valid && level != "exception";
    table.rows.push_back({level, f.text_of("rule"), nodes.empty() ? std::string() : nodes.front(),
                          f.text_of("message"), f.text_of("source")});
    for (const std::string& n : nodes) levels.named.emplace_back(n, level);
  }
  report.status = table.rows.empty() ? "No findings."
                  : is_valid         ? "The model is valid."
                                     : "The model is not valid.";
  report.is_good = is_valid;
  const auto rank = [](const auto& row) {
    const std::string& level = std::get<std::string>(row[0]);
    return level == "exception" ? 0 : level == "warning" ? 1 : 2;
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  report.sections.emplace_back(std::move(table));
}

void add_diff(Report& report, const JsonValue& document) {
  ReportTable table{
      .title = "Differences",
      .columns =
          {{"kind"}, {"change"}, {"what"}, {"before"}, {"after"}, {"largest difference", Kind::kNumber}},
      .shown = 60};
  for (const JsonValue& d : document.items_of("differences"))
    table.rows.push_back({d.text_of("kind"), d.text_of("change"), d.text_of("what"), d.text_of("before"),
                          d.text_of("after"), number_cell(d, "max_difference")});
  report.status = table.rows.empty() ? "The models are the same." : "The models differ.";
  report.is_good = table.rows.empty();
  report.summary.emplace_back(
      "nodes", fmt::format("{:g} before, {:g} after, {:g} in both", document.number_of("nodes_a"),
                           document.number_of("nodes_b"), document.number_of("nodes_in_both")));
  report.sections.emplace_back(std::move(table));
}

}  // namespace

std::string_view kind_text(SavedKind kind) {
  switch (kind) {
    case SavedKind::kVerdict:
      return "a verdict";
    case SavedKind::kProfile:
      return "a profile";
    case SavedKind::kTrace:
      return "a trace";
    case SavedKind::kBench:
      return "measurements";
    case SavedKind::kFindings:
      return "findings";
    case SavedKind::kDiff:
      return "differences";
    case SavedKind::kResults:
      return "results";
  }
  return "";
}

std::optional<SavedKind> saved_kind(std::string_view text) {
  constexpr std::pair<const char*, SavedKind> kKeys[] = {
      {"iterations", SavedKind::kVerdict}, {"traceEvents", SavedKind::kTrace},
      {"rows", SavedKind::kBench},         {"lint_entries", SavedKind::kFindings},
      {"differences", SavedKind::kDiff},   {"lst", SavedKind::kResults}};
  // A damaged end is no reason not to know what the beginning is.
  try {
    JsonReader reader(text, "");
    const JsonEvent first = reader.next();
    if (first == JsonEvent::kBeginArray) {
      if (!reader.next_element() || reader.next() != JsonEvent::kBeginObject) return std::nullopt;
      while (reader.next_key()) {
        if (reader.string() == "count" || reader.string() == "timeMs") return SavedKind::kProfile;
        if (reader.string() == "ph") return SavedKind::kTrace;
        reader.skip_value();
      }
      return std::nullopt;
    }
    if (first != JsonEvent::kBeginObject) return std::nullopt;
    while (reader.next_key()) {
      for (const auto& [key, kind] : kKeys)
        if (reader.string() == key) return kind;
      reader.skip_value();
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

void add_saved(Report& report, SavedKind kind, std::string_view text, const std::string& name) {
  const JsonValue document = parse_json(text, name);
  switch (kind) {
    case SavedKind::kVerdict:
      return add_verdict(report, document);
    case SavedKind::kProfile:
      return add_profile(report, document);
    case SavedKind::kTrace:
      return add_trace(report, document);
    case SavedKind::kBench:
      return add_bench(report, document);
    case SavedKind::kFindings:
      return add_findings(report, document);
    case SavedKind::kDiff:
      return add_diff(report, document);
    case SavedKind::kResults:
      fail(ErrorCode::kInternal, "results are read by load_run_results()");
  }
}

}  // namespace assay
