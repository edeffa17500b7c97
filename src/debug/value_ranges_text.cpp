// Ranges as JSON and CSV.
#include <fmt/format.h>

#include <cmath>

#include "base/json_writer.h"
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

}  // namespace assay::debug
