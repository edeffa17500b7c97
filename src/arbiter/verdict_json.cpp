#include "arbiter/verdict_json.h"

#include <cmath>

#include "arbiter/arbiter.h"
#include "arbiter/causes.h"
#include "arbiter/cut_out.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"

namespace assay {
namespace {

const char* basis_name(Basis b) {
  switch (b) {
    case Basis::kNode:
      return "node";
    case Basis::kRegion:
      return "region";
    case Basis::kNetwork:
      return "network";
  }
  return "";
}

/// JSON has no word for what is not finite.
void number(JsonWriter& json, const char* key, double x) {
  json.key(key);
  if (std::isfinite(x))
    json.value(x);
  else
    json.value(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

void write(JsonWriter& json, const ArbiterVerdict& o, const RunFiles& files) {
  json.begin_object();
  json.key("runner").value(o.runner);
  json.key("output").value(o.output);
  json.key("node").value(o.node);
  json.key("op_type").value(o.op_type);
  if (!o.body.empty()) json.key("body").value(o.body);
  json.key("inputs").begin_array();
  for (const std::string& name : o.inputs) json.value(name);
  json.end_array();
  if (!o.region.empty()) {
    json.key("region").begin_array();
    for (const std::string& label : o.region) json.value(label);
    json.end_array();
  }
  if (!o.lacking.empty()) json.key("lacking").value(o.lacking);
  json.key("verdict").value(verdict_name(o.verdict));
  json.key("basis").value(basis_name(o.basis));
  json.key("certain").value(o.certain);
  json.key("problem").value(o.problem);
  json.key("note").value(o.note);
  json.key("excuses").begin_array();
  for (const std::string& name : o.excuses) json.value(name);
  json.end_array();
  json.key("pattern").value(o.pattern);
  if (!o.computed_in.empty()) json.key("computed_in").value(o.computed_in);
  json.key("type").value(o.dtype == DType::kUndefined ? "" : dtype_name(o.dtype));
  json.key("shape").begin_array();
  for (size_t d = 0; d < o.shape.size(); ++d) json.value(o.shape[d]);
  json.end_array();
  json.key("elements").value(o.elements);
  json.key("unexplained_elements").value(o.beyond);
  json.key("overflows").value(o.overflows);
  json.key("overflown_before").value(o.follows);
  json.key("not_to_be_told").value(o.untold);
  if (o.digits >= 0) number(json, "checked_digits", o.digits);
  number(json, "network_error", o.max_error);
  number(json, "error", o.own_error);
  number(json, "ratio", o.worst_ratio);
  json.key("worst").begin_object();
  json.key("at").value(o.worst_at);
  number(json, "exact", o.worst_exact);
  number(json, "result", o.worst_result);
  number(json, "error", o.worst_error);
  number(json, "explained", o.worst_explained);
  json.end_object();
  if (o.verdict == Verdict::kWrong && o.basis == Basis::kNode) {
    json.key("likely_cause").value(likely_cause(o));
    json.key("extract").value(extract_command(o, files));
    json.key("extracted_inputs").value(inputs_command(o, files));
  }
  json.end_object();
}

void write(JsonWriter& json, const ErrorShare& s) {
  json.begin_object();
  json.key("runner").value(s.runner);
  json.key("node").value(s.node);
  json.key("op_type").value(s.op_type);
  json.key("output").value(s.output);
  json.key("computed_in").value(s.computed_in);
  number(json, "share", s.share);
  number(json, "own_error", s.own_error);
  json.end_object();
}

void write(JsonWriter& json, const Arbitration& a) {
  json.begin_object();
  json.key("noisy_evaluations").value(a.samples);
  json.key("lost_evaluations").value(a.lanes_lost);
  json.key("processor").value(a.processor);
  json.key("threads").value(a.threads);
  json.key("not_reproducible").begin_array();
  for (const std::string& runner : a.unsteady) json.value(runner);
  json.end_array();
  json.key("outputs").begin_array();
  for (const ArbiterVerdict& o : a.outputs) write(json, o, a.files);
  json.end_array();
  if (!a.shares.empty()) {
    json.key("shares").begin_array();
    for (const ErrorShare& s : a.shares) write(json, s);
    json.end_array();
  }
  if (a.traced != nullptr) {
    json.key("traced");
    write(json, *a.traced);
  }
  json.end_object();
}

}  // namespace

void write_verdict(JsonWriter& json, const Arbitration& iteration) { write(json, iteration); }

struct VerdictWriter::Impl {
  explicit Impl(const std::string& path) : file(path), json(file) {
    json.begin_object();
    json.key("iterations").begin_array();
  }
  AtomicFile file;
  JsonWriter json;
};

VerdictWriter::VerdictWriter(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
VerdictWriter::VerdictWriter(VerdictWriter&&) noexcept = default;
VerdictWriter::~VerdictWriter() = default;

void VerdictWriter::add(const Arbitration& iteration) { write(impl_->json, iteration); }

void VerdictWriter::commit() {
  impl_->json.end_array();
  impl_->json.end_object();
  impl_->file.commit();
}

}  // namespace assay
