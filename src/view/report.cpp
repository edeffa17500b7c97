#include "view/report.h"

#include <algorithm>

namespace assay {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

const char* kind_name(ReportColumn::Kind kind) {
  switch (kind) {
    case ReportColumn::Kind::kText:
      return "text";
    case ReportColumn::Kind::kNumber:
      return "number";
    case ReportColumn::Kind::kNode:
      return "node";
  }
  return "text";
}

void write_pairs(JsonWriter& json, const std::vector<std::pair<std::string, std::string>>& pairs) {
  json.begin_array();
  for (const auto& [first, second] : pairs) json.begin_array().value(first).value(second).end_array();
  json.end_array();
}

void write_cell(JsonWriter& json, const ReportCell& cell) {
  std::visit(Overloaded{[&](std::monostate) { json.null(); }, [&](const auto& value) { json.value(value); }},
             cell);
}

void write_section(JsonWriter& json, const ReportTable& table) {
  json.begin_object();
  json.key("kind").value("table");
  json.key("title").value(table.title);
  json.key("note").value(table.note);
  json.key("shown").value(table.shown);
  json.key("columns").begin_array();
  for (const ReportColumn& c : table.columns) {
    json.begin_object();
    json.key("title").value(c.title);
    json.key("kind").value(kind_name(c.kind));
    json.key("unit").value(c.unit);
    json.end_object();
  }
  json.end_array();
  json.key("rows").begin_array();
  for (const std::vector<ReportCell>& row : table.rows) {
    json.begin_array();
    for (const ReportCell& cell : row) write_cell(json, cell);
    json.end_array();
  }
  json.end_array().end_object();
}

void write_section(JsonWriter& json, const ReportText& text) {
  json.begin_object();
  json.key("kind").value("text");
  json.key("title").value(text.title);
  json.key("text").value(text.text);
  json.end_object();
}

void write_metric(JsonWriter& json, const ReportMetric& m) {
  json.begin_object();
  json.key("key").value(m.key);
  json.key("title").value(m.title);
  json.key("unit").value(m.unit);
  json.key("kind").value(m.named.empty() ? "number" : "word");
  json.key("combine").value(m.combine == ReportMetric::Combine::kSum ? "sum" : "max");
  json.key("words").begin_array();
  for (const std::string& w : m.words) json.value(w);
  json.end_array();
  // Pairs: a name may occur more than once.
  json.key("values").begin_array();
  for (const auto& [name, value] : m.numbers) json.begin_array().value(name).value(value).end_array();
  for (const auto& [name, word] : m.named) json.begin_array().value(name).value(word).end_array();
  json.end_array().end_object();
}

void write_timeline(JsonWriter& json, const ReportTimeline& t) {
  json.begin_object();
  json.key("title").value(t.title);
  json.key("threads").begin_array();
  for (const std::string& name : t.threads) json.value(name);
  json.end_array();
  json.key("events").begin_array();
  for (const ReportTimeline::Event& e : t.events)
    json.begin_array()
        .value(static_cast<int64_t>(e.thread))
        .value(e.start)
        .value(e.duration)
        .value(e.name)
        .end_array();
  json.end_array().end_object();
}

void write_tensors(JsonWriter& json, const std::map<std::string, std::vector<TensorPicture>>& tensors) {
  json.begin_object();
  for (const auto& [name, pictures] : tensors) {
    json.key(name).begin_array();
    for (const TensorPicture& p : pictures) write_picture(json, p);
    json.end_array();
  }
  json.end_object();
}

}  // namespace

ReportMetric& Report::metric(const std::string& key, const std::string& name, const std::string& unit,
                             ReportMetric::Combine combine) {
  const auto known =
      std::find_if(metrics.begin(), metrics.end(), [&](const ReportMetric& m) { return m.key == key; });
  if (known != metrics.end()) return *known;
  return metrics.emplace_back(ReportMetric{.key = key, .title = name, .unit = unit, .combine = combine});
}

void write_report(JsonWriter& json, const Report& report) {
  json.begin_object();
  json.key("title").value(report.title);
  json.key("status").value(report.status);
  json.key("is_good");
  if (report.is_good)
    json.value(*report.is_good);
  else
    json.null();
  json.key("opens").value(report.opens_first ? "report" : "graph");
  json.key("summary");
  write_pairs(json, report.summary);
  json.key("sections").begin_array();
  for (const auto& section : report.sections)
    std::visit([&](const auto& s) { write_section(json, s); }, section);
  json.end_array();
  json.key("metrics").begin_array();
  for (const ReportMetric& m : report.metrics) write_metric(json, m);
  json.end_array();
  json.key("timelines").begin_array();
  for (const ReportTimeline& t : report.timelines) write_timeline(json, t);
  json.end_array();
  json.key("tensors");
  write_tensors(json, report.tensors);
  json.key("matching");
  if (report.matching) {
    json.begin_object();
    json.key("pairs");
    write_pairs(json, report.matching->pairs);
    json.key("changed");
    write_pairs(json, report.matching->changed);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

}  // namespace assay
