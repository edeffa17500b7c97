// The file of an evaluation.
#include <fmt/format.h>

#include <charconv>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/mapped_file.h"
#include "eval/evaluation.h"
#include "eval/part_fields.h"

namespace assay::eval {
namespace {

constexpr std::string_view kFormat = "assay evaluation 1";

constexpr std::pair<Kind, std::string_view> kKinds[] = {{Kind::kProportion, "proportion"},
                                                        {Kind::kMean, "mean"},
                                                        {Kind::kPerplexity, "perplexity"},
                                                        {Kind::kSet, "set"}};

std::string_view name_of(Kind kind) {
  for (const auto& [k, name] : kKinds)
    if (k == kind) return name;
  return "";
}

void write_number(JsonWriter& json, std::string_view key, const std::optional<double>& number) {
  if (number) json.key(key).value(*number);
}

void write_ranking(JsonWriter& json, const Ranking& ranking) {
  json.begin_array();
  for (const Ranked& r : ranking.list())
    json.begin_object().key("sample").value(r.sample).key("value").value(r.value).end_object();
  json.end_array();
}

void write_records(JsonWriter& json, const std::map<int64_t, std::vector<double>>& records) {
  json.key("records").begin_array();
  for (const auto& [sample, numbers] : records) {
    json.begin_object().key("sample").value(sample).key("numbers").begin_array();
    for (const double number : numbers) json.value(number);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_row(JsonWriter& json, const Row& row) {
  const Tally& t = row.tally;
  json.begin_object();
  json.key("metric").value(row.metric).key("backend").value(row.backend).key("output").value(row.output);
  json.key("kind").value(name_of(row.kind)).key("worse").value(row.low_is_worse ? "lower" : "higher");
  const Figure f = t.figure(row.kind);
  write_number(json, "value", row.kind == Kind::kSet ? row.whole : f.value);
  write_number(json, "low", f.low);
  write_number(json, "high", f.high);
  write_number(json, "deviation", f.deviation);
  write_number(json, "least", t.least);
  write_number(json, "greatest", t.greatest);
  json.key("count").value(t.count).key("nan").value(t.nan);
  json.key("negative_infinity").value(t.negative_infinity);
  json.key("positive_infinity").value(t.positive_infinity);
  json.key("sum").value(t.sum.text()).key("squares").value(t.squares.text());
  json.key("worst");
  write_ranking(json, row.worst);
  if (row.kind == Kind::kSet) write_records(json, row.records);
  json.end_object();
}

void write_bad(JsonWriter& json, const Evaluation& e) {
  json.key("bad_samples").begin_object().key("count").value(e.bad).key("first").begin_array();
  for (const BadSample& b : e.bad_samples)
    json.begin_object().key("sample").value(b.sample).key("reason").value(b.reason).end_object();
  json.end_array().end_object();
}

void write_judged(JsonWriter& json, const std::vector<JudgedSample>& judged) {
  json.key("judged").begin_array();
  for (const JudgedSample& j : judged)
    json.begin_object()
        .key("sample")
        .value(j.sample)
        .key("backend")
        .value(j.backend)
        .key("verdict")
        .value(j.verdict)
        .key("output")
        .value(j.output)
        .key("node")
        .value(j.node)
        .key("op_type")
        .value(j.op_type)
        .end_object();
  json.end_array();
}

void write_times(JsonWriter& json, const std::vector<BackendTimes>& times) {
  json.key("timing").begin_array();
  for (const BackendTimes& b : times) {
    const TimeTally& t = b.times;
    json.begin_object().key("backend").value(b.backend).key("count").value(t.count);
    if (t.count > 0) json.key("mean").value(t.sum.value() / static_cast<double>(t.count));
    write_number(json, "p50", t.quantile(0.5));
    write_number(json, "p90", t.quantile(0.9));
    write_number(json, "p99", t.quantile(0.99));
    json.key("sum").value(t.sum.text()).key("buckets").begin_object();
    for (const auto& [bucket, count] : t.buckets) json.key(std::to_string(bucket)).value(count);
    json.end_object().end_object();
  }
  json.end_array();
}

Ranking read_ranking(const PartFields& reader, const JsonValue& row, size_t most, bool low_is_worse) {
  Ranking ranking(most, low_is_worse);
  for (const JsonValue& r : reader.items(row, "worst"))
    ranking.add(Ranked{reader.count(r, "sample"), reader.number(r, "value")});
  return ranking;
}

void read_records(const PartFields& reader, const JsonValue& object, Row& row) {
  row.whole = reader.maybe(object, "value");
  for (const JsonValue& record : reader.items(object, "records")) {
    std::vector<double>& numbers = row.records[reader.count(record, "sample")];
    for (const JsonValue& number : reader.items(record, "numbers")) {
      if (number.kind != JsonValue::Kind::kNumber) reader.refuse("a sample has something else than numbers");
      numbers.push_back(number.number);
    }
  }
}

Row read_row(const PartFields& reader, const JsonValue& object, size_t worst) {
  Row row{.metric = reader.text(object, "metric"),
          .backend = reader.text(object, "backend"),
          .output = reader.text(object, "output")};
  const std::string& kind = reader.text(object, "kind");
  bool is_known = false;
  for (const auto& [k, name] : kKinds)
    if (name == kind) row.kind = k, is_known = true;
  if (!is_known) reader.refuse(fmt::format("'{}' is no kind of metric", kind));
  row.low_is_worse = reader.text(object, "worse") == "lower";
  Tally& t = row.tally;
  t.count = reader.count(object, "count");
  t.nan = reader.count(object, "nan");
  t.negative_infinity = reader.count(object, "negative_infinity");
  t.positive_infinity = reader.count(object, "positive_infinity");
  t.sum = reader.sum(object, "sum");
  t.squares = reader.sum(object, "squares");
  t.least = reader.maybe(object, "least");
  t.greatest = reader.maybe(object, "greatest");
  if ((t.count > 0) != (t.least && t.greatest)) reader.refuse("a metric without its range");
  row.worst = read_ranking(reader, object, worst, row.low_is_worse);
  if (row.kind == Kind::kSet) read_records(reader, object, row);
  return row;
}

BackendTimes read_times(const PartFields& reader, const JsonValue& object) {
  BackendTimes times{.backend = reader.text(object, "backend")};
  times.times.count = reader.count(object, "count");
  times.times.sum = reader.sum(object, "sum");
  for (const auto& [bucket, count] : reader.member(object, "buckets", JsonValue::Kind::kObject).members) {
    uint32_t index = 0;
    const auto read = std::from_chars(bucket.data(), bucket.data() + bucket.size(), index);
    if (read.ec != std::errc() || index >= (1U << 18)) reader.refuse("a bucket of times that there is not");
    times.times.buckets[index] = reader.count_of(count, bucket);
  }
  return times;
}

}  // namespace

std::string to_json(const Evaluation& e) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("format").value(kFormat);
  write_identity(json, e.identity);
  json.key("samples");
  e.samples ? json.value(*e.samples) : json.null();
  json.key("covered").value(e.covered.text());
  json.key("content").value(fmt::format("{:016x}", e.content));
  if (e.stream) json.key("stream").value(fmt::format("{:016x}", *e.stream));
  json.key("worst").value(static_cast<int64_t>(e.worst));
  json.key("judged_worst").value(static_cast<int64_t>(e.judged_worst));
  json.key("metrics").begin_array();
  for (const Row& row : e.rows) write_row(json, row);
  json.end_array();
  write_bad(json, e);
  write_judged(json, e.judged);
  if (!e.times.empty()) write_times(json, e.times);
  json.end_object();
  return with_checksum(std::move(text));
}

Evaluation from_json(std::string_view text, const std::string& name) {
  const PartFields reader(name);
  const JsonValue document = parse_json(text, name);
  if (!document.is_object() || document.text_of("format").substr(0, 16) != kFormat.substr(0, 16))
    fail(ErrorCode::kInvalidArgument, "{} is no result of an evaluation", name);
  require(document.text_of("format") == kFormat, ErrorCode::kInvalidArgument,
          "{} is of another version of the format: '{}', and this program reads '{}'", name,
          document.text_of("format"), kFormat);
  reader.require_whole(text);
  Evaluation e;
  e.identity = reader.identity(document);
  const JsonValue* samples = document.find("samples");
  if (samples == nullptr) reader.refuse("'samples' is missing");
  if (samples->kind != JsonValue::Kind::kNull) e.samples = reader.count_of(*samples, "samples");
  e.covered = reader.ranges(document, "covered");
  e.content = reader.hexadecimal(reader.text(document, "content"), "content");
  if (document.find("stream") != nullptr)
    e.stream = reader.hexadecimal(reader.text(document, "stream"), "stream");
  e.worst = static_cast<size_t>(reader.count(document, "worst"));
  e.judged_worst = static_cast<size_t>(reader.count(document, "judged_worst"));
  for (const JsonValue& row : reader.items(document, "metrics"))
    e.rows.push_back(read_row(reader, row, e.worst));
  const JsonValue& bad = reader.member(document, "bad_samples", JsonValue::Kind::kObject);
  e.bad = reader.count(bad, "count");
  for (const JsonValue& b : reader.items(bad, "first"))
    e.bad_samples.push_back({reader.count(b, "sample"), reader.text(b, "reason")});
  for (const JsonValue& j : reader.items(document, "judged"))
    e.judged.push_back({.sample = reader.count(j, "sample"),
                        .backend = reader.text(j, "backend"),
                        .verdict = reader.text(j, "verdict"),
                        .node = reader.text(j, "node"),
                        .op_type = reader.text(j, "op_type"),
                        .output = reader.text(j, "output")});
  if (document.find("timing") != nullptr)
    for (const JsonValue& t : reader.items(document, "timing")) e.times.push_back(read_times(reader, t));
  return e;
}

void save_evaluation(const Evaluation& evaluation, const std::string& path) {
  AtomicFile file(path);
  file.write(to_json(evaluation));
  file.commit();
}

Evaluation load_evaluation(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return from_json(file->bytes(), path);
}

}  // namespace assay::eval
