#include "bench/exports.h"

#include <fmt/format.h>

#include <cmath>

#include "assay/version.h"
#include "base/json_reader.h"
#include "bench/report.h"
#include "bench/shapes.h"
#include "tensor/convert.h"

namespace assay::bench {
namespace {

void write_summary(JsonWriter& json, std::string_view key, const Summary& s) {
  json.key(key).begin_object();
  json.key("min").value(s.min).key("max").value(s.max).key("mean").value(s.mean).key("median").value(
      s.median);
  json.key("percentiles").begin_object();
  for (const auto& [percent, value] : s.percentiles) json.key(fmt::format("{:g}", percent)).value(value);
  json.end_object().end_object();
}

void write_layers(JsonWriter& json, const LayerTimes& profile) {
  const double total = profile.total();
  const auto runs = static_cast<double>(std::max<size_t>(1, profile.runs));
  for (const LayerTimes::Layer& layer : profile.layers) {
    const double time = layer.total();
    json.begin_object().key("name").value(layer.name).key("timeMs").value(time);
    json.key("averageMs").value(time / runs).key("medianMs").value(median(layer.milliseconds));
    json.key("percentage").value(total > 0 ? 100 * time / total : 0.0).end_object();
  }
}

void write_roofline(JsonWriter& json, const Roofline& r) {
  json.begin_object().key("shapes").value(r.shapes);
  json.key("flops_per_second").value(2 * r.multiply_adds_per_second);
  if (r.int8_per_second > 0) json.key("int8_per_second").value(2 * r.int8_per_second);
  if (r.bfloat16_per_second > 0) json.key("bfloat16_per_second").value(2 * r.bfloat16_per_second);
  json.key("memory_bytes_per_second").value(r.memory_bytes_per_second);
  json.key("median_ms").value(r.milliseconds()).key("floor_ms").value(r.floor());
  json.key("layers").begin_array();
  for (const LayerFloor& l : r.layers) {
    json.begin_object().key("name").value(l.name).key("tactic").value(l.tactic);
    json.key("median_ms")
        .value(l.milliseconds)
        .key("floor_ms")
        .value(l.floor)
        .key("weight_bytes")
        .value(l.weight_bytes);
    json.key("value_bytes").value(l.value_bytes);
    if (l.multiply_adds) json.key("multiply_adds").value(*l.multiply_adds);
    json.end_object();
  }
  json.end_array().end_object();
}

const char* how_text(Ready::How how) {
  return how == Ready::How::kBuilt ? "built" : (how == Ready::How::kLoaded ? "loaded" : "opened");
}

void write_complex(JsonWriter& json, const Tensor& t) {
  const auto pairs = [&]<typename T>(const T* numbers) {
    for (int64_t i = 0; i < t.numel(); ++i)
      json.begin_array()
          .value(static_cast<double>(numbers[2 * i]))
          .value(static_cast<double>(numbers[2 * i + 1]))
          .end_array();
  };
  if (t.dtype() == DType::kComplex64)
    pairs(static_cast<const float*>(t.data()));
  else
    pairs(static_cast<const double*>(t.data()));
}

/// Integers are written exactly, complex numbers as pairs, NaN and infinities as Python's json does.
void write_elements(JsonWriter& json, const Tensor& t) {
  json.begin_array();
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.span<std::string>()) json.value(s);
  } else if (is_complex(t.dtype())) {
    write_complex(json, t);
  } else if (t.dtype() == DType::kUInt64) {
    for (const uint64_t v : t.span<uint64_t>()) json.value(v);
  } else if (is_integer(t.dtype()) || t.dtype() == DType::kBool) {
    for (const int64_t v : t.to_int64()) json.value(v);
  } else {
    const Tensor numbers = to_float64(t);
    for (const double v : numbers.span<double>()) json.value(v);
  }
  json.end_array();
}

void write_members(JsonWriter& json, const Tensor& t);

/// The values of a sequence or an optional are objects like that of an output, without a name; those of a map
/// are an object with its keys and values.
void write_values(JsonWriter& json, const Tensor& t) {
  if (!t.is_container()) return write_elements(json, t);
  if (t.dtype() == DType::kMap) {
    json.begin_object().key("keys");
    write_elements(json, t.elements()[0]);
    json.key("values");
    write_values(json, t.elements()[1]);
    json.end_object();
    return;
  }
  json.begin_array();
  for (const Tensor& element : t.elements()) {
    json.begin_object();
    write_members(json, element);
    json.end_object();
  }
  json.end_array();
}

void write_members(JsonWriter& json, const Tensor& t) {
  if (t.is_container())
    json.key("type").value(dtype_name(t.dtype()));
  else
    json.key("dimensions").value(extents_text(t.shape().dims()));
  json.key("values");
  write_values(json, t);
}

/// The names of the layers in EngineInspector's JSON.
std::vector<std::string> layer_names(const EngineInspector& inspector) {
  std::vector<std::string> names;
  for (size_t i = 0; i < inspector.layer_count(); ++i) {
    const std::string text = inspector.layer_information(i, EngineInspector::Format::kJson);
    JsonReader reader(text, "a layer");
    reader.expect(JsonEvent::kBeginObject, "a layer");
    while (reader.next_key())
      if (reader.string() == "Name")
        names.emplace_back(reader.expect_string("its name"));
      else
        reader.skip_value();
  }
  return names;
}

}  // namespace

void write_times(JsonWriter& json, const Row& row, double origin) {
  json.begin_array();
  const auto ms = [&](double seconds) { return 1e3 * (seconds - origin); };
  for (const RunTimes& r : row.runs) {
    json.begin_object().key("startEnqMs").value(ms(r.start)).key("endEnqMs").value(ms(r.enqueued));
    json.key("startH2dMs").value(ms(r.compute_start)).key("endH2dMs").value(ms(r.compute_start));
    json.key("startComputeMs").value(ms(r.compute_start)).key("endComputeMs").value(ms(r.compute_end));
    json.key("startD2hMs").value(ms(r.compute_end)).key("endD2hMs").value(ms(r.compute_end));
    json.key("h2dMs").value(0.0).key("computeMs").value(1e3 * (r.compute_end - r.compute_start));
    json.key("d2hMs").value(0.0).key("latencyMs").value(1e3 * (r.end - r.start)).end_object();
  }
  json.end_array();
}

void write_profile(JsonWriter& json, const LayerTimes& profile) {
  json.begin_array().begin_object().key("count").value(static_cast<int64_t>(profile.runs)).end_object();
  write_layers(json, profile);
  json.end_array();
}

void write_output(JsonWriter& json, const TensorList& outputs) {
  json.begin_array();
  for (const auto& [name, tensor] : outputs) {
    json.begin_object().key("name").value(name);
    write_members(json, tensor);
    json.end_object();
  }
  json.end_array();
}

void write_timeline(JsonWriter& json, const Row& row, const LayerTimes& profile, double origin) {
  json.begin_object().key("displayTimeUnit").value("ms").key("traceEvents").begin_array();
  const auto add = [&](std::string_view name, int thread, double start, double seconds) {
    json.begin_object().key("name").value(name).key("ph").value("X").key("pid").value(1).key("tid").value(
        thread);
    json.key("ts").value(1e6 * (start - origin)).key("dur").value(1e6 * seconds).end_object();
  };
  const auto name_thread = [&](int thread, const char* name) {
    json.begin_object()
        .key("name")
        .value("thread_name")
        .key("ph")
        .value("M")
        .key("pid")
        .value(1)
        .key("tid")
        .value(thread);
    json.key("args").begin_object().key("name").value(name).end_object().end_object();
  };
  name_thread(1, "runs");
  name_thread(2, "runs with layers");
  for (const RunTimes& r : row.runs) add(row.backend + " " + row.shapes, 1, r.start, r.end - r.start);
  for (size_t i = 0; i < profile.times.size(); ++i) {
    double at = profile.times[i].start;
    for (const LayerTimes::Layer& layer : profile.layers) {
      if (i >= layer.milliseconds.size()) continue;
      add(layer.name, 2, at, 1e-3 * layer.milliseconds[i]);
      at += 1e-3 * layer.milliseconds[i];
    }
  }
  json.end_array().end_object();
}

void write_result(JsonWriter& json, const Result& result) {
  json.begin_object().key("version").value(kVersion).key("command").value(result.command);
  json.key("processor").value(result.processor).key("threads").value(result.threads);
  json.key("backends").begin_array();
  for (const Ready& b : result.backends) {
    json.begin_object().key("name").value(b.name).key("made").value(how_text(b.how));
    json.key("seconds")
        .value(b.seconds)
        .key("plan_bytes")
        .value(static_cast<int64_t>(b.plan_bytes))
        .end_object();
  }
  json.end_array().key("rows").begin_array();
  for (const Row& r : result.rows) {
    json.begin_object().key("shapes").value(r.shapes).key("backend").value(r.backend);
    json.key("runs").value(static_cast<int64_t>(r.runs.size())).key("throughput_qps").value(r.throughput);
    json.key("ratio").value(r.ratio).key("difference").value(r.difference).key("first_ms").value(r.first_ms);
    json.key("wall_seconds").value(r.wall_seconds).key("peak_memory_bytes").value(r.peak_bytes);
    write_summary(json, "latency_ms", r.latency);
    write_summary(json, "enqueue_ms", r.enqueue);
    write_summary(json, "compute_ms", r.compute);
    json.end_object();
  }
  json.end_array().key("profiles").begin_array();
  for (const LayerTimes& p : result.profiles) {
    json.begin_object().key("shapes").value(p.shapes).key("runs").value(static_cast<int64_t>(p.runs));
    json.key("layers").begin_array();
    write_layers(json, p);
    json.end_array().end_object();
  }
  json.end_array().key("rooflines").begin_array();
  for (const Roofline& r : result.rooflines) write_roofline(json, r);
  json.end_array().end_object();
}

std::string layers_text(const std::shared_ptr<const Engine>& engine, LayerDetail detail) {
  const EngineInspector inspector(engine);
  std::string text = "Layers:\n";
  if (detail == LayerDetail::kAll) text += inspector.engine_information(EngineInspector::Format::kOneLine);
  if (detail == LayerDetail::kNames)
    for (const std::string& name : layer_names(inspector)) text += name + "\n";
  text += "\nBindings:\n";
  for (const IoTensor& t : engine->io_tensors()) text += t.name + "\n";
  return text;
}

std::string layers_json(const std::shared_ptr<const Engine>& engine, LayerDetail detail) {
  const EngineInspector inspector(engine);
  if (detail == LayerDetail::kAll) return inspector.engine_information(EngineInspector::Format::kJson);
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("Layers").begin_array();
  if (detail == LayerDetail::kNames)
    for (const std::string& name : layer_names(inspector)) json.value(name);
  json.end_array().key("Bindings").begin_array();
  for (const IoTensor& t : engine->io_tensors()) json.value(t.name);
  json.end_array().end_object();
  return text;
}

ExportFile::ExportFile(const std::string& path) {
  if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
}

void ExportFile::write(const std::string& text) {
  file_->write(text);
  file_->commit();
}

}  // namespace assay::bench
