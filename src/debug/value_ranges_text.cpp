// Ranges as JSON and CSV, and studies as they are stored.
#include <fmt/format.h>

#include <cmath>

#include "base/json_fields.h"
#include "base/python_repr.h"
#include "debug/value_ranges.h"

namespace assay::debug {
namespace {

void write_format(JsonWriter& json, const TensorRange& range, DType format, const FormatFit& fit) {
  json.key(dtype_name(format)).begin_object();
  if (format == DType::kInt8) {
    json.key("lost").value(range.lost_in_int8()).key("noise_ratio_db").value(range.int8_noise_ratio());
  } else {
    json.key("overflow").value(fit.overflow).key("flushed").value(fit.flushed);
    json.key("subnormal").value(fit.subnormal).key("headroom_bits").value(range.headroom(format));
    json.key("footroom_bits").value(range.footroom(format));
  }
  json.end_object();
}

}  // namespace

std::string ranges_json(const RangeStudy& study, const std::string& model, const std::string& backend,
                        DType ranked_by) {
  std::string text;
  JsonWriter json([&](std::string_view part) { text += part; });
  json.begin_object().key("model").value(model).key("backend").value(backend);
  json.key("iterations").value(study.iterations()).key("ranked_by").value(dtype_name(ranked_by));
  json.key("tensors").begin_array();
  for (const TensorRange* r : study.ranked(ranked_by)) {
    json.begin_object().key("tensor").value(r->tensor).key("kind").value(range_kind_name(r->kind));
    if (!r->node.empty()) json.key("node").value(r->node);
    json.key("position").value(static_cast<int64_t>(r->position)).key("dtype").value(dtype_name(r->dtype));
    json.key("elements").value(r->elements).key("zeros").value(r->zeros).key("nan").value(r->nan);
    json.key("infinite").value(r->infinite).key("largest").value(r->largest);
    json.key("smallest").value(r->smallest).key("formats").begin_object();
    for (size_t f = 0; f < study.formats().size(); ++f)
      write_format(json, *r, study.formats()[f], r->fits[f]);
    json.end_object().end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

std::string ranges_csv(const RangeStudy& study, DType ranked_by) {
  std::string text = "tensor,kind,node,position,dtype,elements,zeros,nan,infinite,largest,smallest";
  for (const DType format : study.formats()) {
    const std::string name(dtype_name(format));
    text += format == DType::kInt8
                ? fmt::format(",{0}_lost,{0}_noise_ratio_db", name)
                : fmt::format(",{0}_overflow,{0}_flushed,{0}_subnormal,{0}_headroom_bits,{0}_footroom_bits",
                              name);
  }
  text += "\n";
  for (const TensorRange* r : study.ranked(ranked_by)) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}", csv_field(r->tensor), range_kind_name(r->kind),
                        csv_field(r->node), r->position, dtype_name(r->dtype), r->elements, r->zeros, r->nan,
                        r->infinite, python_float_repr(r->largest), python_float_repr(r->smallest));
    for (size_t f = 0; f < study.formats().size(); ++f) {
      const DType format = study.formats()[f];
      if (format == DType::kInt8)
        text += fmt::format(",{},{}", python_float_repr(r->lost_in_int8()),
                            python_float_repr(r->int8_noise_ratio()));
      else
        text += fmt::format(",{},{},{},{},{}", r->fits[f].overflow, r->fits[f].flushed, r->fits[f].subnormal,
                            python_float_repr(r->headroom(format)), python_float_repr(r->footroom(format)));
    }
    text += "\n";
  }
  return text;
}

namespace {

TensorRange read_range(const JsonValue& object, size_t formats, const JsonFields& fields) {
  TensorRange r;
  const std::string& kind = fields.text(object, "kind");
  for (const TensorRange::Kind k :
       {TensorRange::Kind::kInput, TensorRange::Kind::kWeight, TensorRange::Kind::kResult})
    if (kind == range_kind_name(k)) r.kind = k;
  r.tensor = fields.text(object, "tensor");
  r.node = fields.text(object, "node");
  const std::optional<DType> dtype = dtype_from_name(fields.text(object, "dtype"));
  if (!dtype) fields.refuse(fmt::format("'{}' is no element type", fields.text(object, "dtype")));
  r.dtype = *dtype;
  r.position = static_cast<size_t>(fields.count(object, "position"));
  r.elements = fields.count(object, "elements");
  r.zeros = fields.count(object, "zeros");
  r.nan = fields.count(object, "nan");
  r.infinite = fields.count(object, "infinite");
  r.largest = fields.number(object, "largest");
  r.smallest = fields.number(object, "smallest");
  try {
    r.squares = ExactSum::parse(fields.text(object, "squares"));
  } catch (const Error& e) {
    fields.refuse(e.message());
  }
  for (const JsonValue& fit : fields.items(object, "fits"))
    r.fits.push_back({.overflow = fields.count(fit, "overflow"),
                      .flushed = fields.count(fit, "flushed"),
                      .subnormal = fields.count(fit, "subnormal")});
  if (r.fits.size() != formats) fields.refuse("a tensor has not as many counts as there are types");
  for (const JsonValue& m : fields.items(object, "magnitudes")) {
    const int64_t k = fields.count(m, "class");
    if (k >= TensorRange::kClasses) fields.refuse(fmt::format("there is no class {} of magnitudes", k));
    r.magnitudes[static_cast<int>(k)] = fields.count(m, "count");
  }
  return r;
}

}  // namespace

void RangeStudy::write(JsonWriter& json) const {
  json.key("types").begin_array();
  for (const DType format : formats_) json.value(dtype_name(format));
  json.end_array().key("iterations").value(iterations_).key("tensors").begin_array();
  for (const TensorRange* r : ranges()) {
    json.begin_object().key("tensor").value(r->tensor).key("kind").value(range_kind_name(r->kind));
    json.key("node").value(r->node).key("position").value(static_cast<int64_t>(r->position));
    json.key("dtype").value(dtype_name(r->dtype)).key("elements").value(r->elements);
    json.key("zeros").value(r->zeros).key("nan").value(r->nan).key("infinite").value(r->infinite);
    json.key("largest").value(r->largest).key("smallest").value(r->smallest);
    json.key("squares").value(r->squares.text()).key("fits").begin_array();
    for (const FormatFit& fit : r->fits)
      json.begin_object()
          .key("overflow")
          .value(fit.overflow)
          .key("flushed")
          .value(fit.flushed)
          .key("subnormal")
          .value(fit.subnormal)
          .end_object();
    json.end_array().key("magnitudes").begin_array();
    for (const auto& [k, count] : r->magnitudes)
      json.begin_object().key("class").value(k).key("count").value(count).end_object();
    json.end_array().end_object();
  }
  json.end_array();
}

RangeStudy RangeStudy::read(const JsonValue& object, const std::string& name) {
  const JsonFields fields(name);
  std::vector<DType> formats;
  for (const JsonValue& type : fields.items(object, "types")) {
    const std::optional<DType> format = dtype_from_name(type.text);
    if (!format) fields.refuse(fmt::format("'{}' is no element type", type.text));
    formats.push_back(*format);
  }
  if (formats.empty()) fields.refuse("there are no types");
  RangeStudy study(std::move(formats));
  study.iterations_ = fields.count(object, "iterations");
  for (const JsonValue& t : fields.items(object, "tensors")) {
    TensorRange range = read_range(t, study.formats_.size(), fields);
    const std::string tensor = range.tensor;
    if (!study.ranges_.emplace(tensor, std::move(range)).second)
      fields.refuse(fmt::format("the tensor '{}' is there twice", tensor));
  }
  return study;
}

}  // namespace assay::debug
