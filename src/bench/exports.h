// Results as JSON files: trtexec's, and one that holds everything.
#pragma once

#include <memory>
#include <string>

#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "bench/options.h"
#include "bench/result.h"

namespace assay::bench {

/// A list with one object for each timed run, times in milliseconds since `origin` (seconds as now()).
void write_times(JsonWriter& json, const Row& row, double origin);
/// A list: the number of runs, then an object for each layer.
void write_profile(JsonWriter& json, const LayerTimes& profile);
/// A list with an object for each output: name, dimensions, values. A sequence, an optional or a map has its
/// type in place of dimensions, and values that are such objects, or the keys and values of a map.
void write_output(JsonWriter& json, const TensorList& outputs);
/// The trace events that browsers and Perfetto show as a timeline: the runs of a row, and runs with their
/// layers in sequence, in microseconds since `origin`.
void write_timeline(JsonWriter& json, const Row& row, const LayerTimes& profile, double origin);
/// Everything but single runs and values.
void write_result(JsonWriter& json, const Result& result);

/// The layers of an engine in the text or JSON of EngineInspector; only their names, or nothing, at lower
/// detail.
std::string layers_text(const std::shared_ptr<const Engine>& engine, LayerDetail detail);
std::string layers_json(const std::shared_ptr<const Engine>& engine, LayerDetail detail);

/// A file that is written at the end, but opened before the work begins, so that an unwritable path is found
/// immediately.
class ExportFile {
 public:
  /// Nothing will be written for an empty path. Throws Error (kIo).
  explicit ExportFile(const std::string& path);
  explicit operator bool() const { return file_ != nullptr; }
  /// Throws Error (kIo).
  void write(const std::string& text);
  template <typename Fill>
  void write_json(Fill fill) {
    JsonWriter json(*file_);
    fill(json);
    write("\n");
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

}  // namespace assay::bench
