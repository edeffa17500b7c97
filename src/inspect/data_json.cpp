// Saved arrays as JSON.
#include "inspect/data_report.h"

namespace assay {

void DataJson::begin_inputs(size_t iterations) {
  json_.begin_object().key("kind").value("inputs").key("iterations").value(static_cast<int64_t>(iterations));
  json_.key("shown").begin_array();
}
void DataJson::begin_results(size_t /*runners*/, size_t /*longest_name*/) {
  are_results_ = true;
  json_.begin_object().key("kind").value("results").key("runners").begin_array();
}
void DataJson::begin_runner(std::string_view name, size_t iterations) {
  json_.begin_object().key("name").value(name).key("iterations").value(static_cast<int64_t>(iterations));
  json_.key("shown").begin_array();
}
void DataJson::begin_iteration(size_t /*index*/) { json_.begin_array(); }
void DataJson::end_iteration() { json_.end_array(); }
void DataJson::end_runner() { json_.end_array().end_object(); }
void DataJson::end() { json_.end_array().end_object(); }

void DataJson::add(const ArrayDescription& a) {
  json_.begin_object().key("name").value(a.name).key("dtype").value(dtype_name(a.dtype));
  json_.key("shape").begin_array();
  for (const int64_t extent : a.shape) json_.value(extent);
  json_.end_array();
  if (a.statistics) {
    const Statistics& s = *a.statistics;
    json_.key("statistics").begin_object();
    json_.key("mean").value(s.mean).key("std_dev").value(s.std_dev).key("variance").value(s.variance);
    json_.key("median").value(s.median);
    json_.key("min").value(s.min).key("min_index").value(s.min_index);
    json_.key("max").value(s.max).key("max_index").value(s.max_index);
    json_.key("average_magnitude").value(s.average_magnitude);
    json_.key("p90").value(s.p90).key("p95").value(s.p95).key("p99").value(s.p99).end_object();
  }
  if (a.histogram) {
    json_.key("histogram").begin_object().key("edges").begin_array();
    for (const double edge : a.histogram->edges) json_.value(edge);
    json_.end_array().key("counts").begin_array();
    for (const int64_t count : a.histogram->counts) json_.value(count);
    json_.end_array().end_object();
  }
  json_.end_object();
}

}  // namespace assay
