#include "assay/generate.h"
#include "base/json_writer.h"

namespace assay::generate {
namespace {

void write_tokens(JsonWriter& json, const Tokens& tokens) {
  json.begin_array();
  for (const int64_t token : tokens) json.value(token);
  json.end_array();
}

void write_interface(JsonWriter& json, const Interface& f) {
  const auto input = [&](std::string_view key, const std::optional<size_t>& i) {
    if (i) json.key(key).value(f.inputs[*i].name);
  };
  json.begin_object();
  input("tokens", f.tokens);
  input("mask", f.mask);
  input("positions", f.positions);
  input("segments", f.segments);
  input("use_cache", f.use_cache);
  json.key("logits").value(f.outputs[f.logits].name).key("caches").begin_array();
  for (const CacheSlot& slot : f.caches)
    json.begin_object()
        .key("input")
        .value(f.inputs[slot.input].name)
        .key("output")
        .value(f.outputs[slot.output].name)
        .end_object();
  json.end_array().end_object();
}

void write_sequence(JsonWriter& json, const GeneratedSequence& s, bool counts_plans) {
  json.begin_object().key("prompt");
  write_tokens(json, s.prompt);
  json.key("tokens").begin_array();
  for (const GeneratedToken& t : s.tokens) json.value(t.token);
  json.end_array().key("seconds").begin_array();
  for (const GeneratedToken& t : s.tokens) json.value(t.seconds);
  json.end_array();
  if (counts_plans) {
    json.key("plans").begin_array();
    for (const GeneratedToken& t : s.tokens) json.value(static_cast<int64_t>(t.plans));
    json.end_array();
  }
  json.key("ended").value(s.ended).end_object();
}

void write_backend(JsonWriter& json, const BackendResult& b) {
  json.begin_object().key("name").value(b.name).key("open_seconds").value(b.open_seconds);
  json.key("first_token_seconds").value(b.first_token_seconds());
  json.key("median_step_seconds").value(b.median_step_seconds());
  json.key("tokens_per_second").value(b.tokens_per_second());
  json.key("peak_memory_bytes").value(b.peak_bytes);
  if (b.counts_plans)
    json.key("plans")
        .value(static_cast<int64_t>(b.plans()))
        .key("late_plans")
        .value(static_cast<int64_t>(b.late_plans()))
        .key("part_plans")
        .value(static_cast<int64_t>(b.part_plans()));
  json.key("sequences").begin_array();
  for (const GeneratedSequence& s : b.sequences) write_sequence(json, s, b.counts_plans);
  json.end_array().end_object();
}

void write_agreement(JsonWriter& json, const Agreement& a) {
  json.begin_object().key("first").value(a.first).key("second").value(a.second);
  json.key("equal_tokens").value(static_cast<int64_t>(a.equal_tokens));
  json.key("largest_difference").value(a.largest_difference).key("partings").begin_array();
  for (const Parting& p : a.partings) write_parting(json, p);
  json.end_array().end_object();
}

void write_side(JsonWriter& json, const Side& side, double exact) {
  json.begin_object().key("backend").value(side.name).key("token").value(side.token);
  json.key("logits").begin_array();
  for (const RankedToken& r : side.best)
    json.begin_object().key("token").value(r.token).key("logit").value(r.logit).end_object();
  json.end_array().key("logit_of_the_other").value(side.other_logit);
  json.key("exact").value(exact).key("error").value(side.error).end_object();
}

}  // namespace

void write_parting(JsonWriter& json, const Parting& p) {
  json.begin_object().key("prompt").value(static_cast<int64_t>(p.prompt));
  json.key("index").value(static_cast<int64_t>(p.index)).key("sides").begin_array();
  write_side(json, p.first, p.exact_first);
  write_side(json, p.second, p.exact_second);
  json.end_array().key("explained").value(p.explained);
  json.key("explanation").value(explanation_name(p.explanation));
  if (!p.reason.empty()) json.key("reason").value(p.reason);
  json.end_object();
}

std::string report_json(const Report& report) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("interface");
  write_interface(json, report.interface);
  json.key("backends").begin_array();
  for (const BackendResult& b : report.backends) write_backend(json, b);
  json.end_array().key("agreements").begin_array();
  for (const Agreement& a : report.agreements) write_agreement(json, a);
  json.end_array().end_object();
  return text + "\n";
}

}  // namespace assay::generate
