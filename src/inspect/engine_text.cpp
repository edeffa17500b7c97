// An engine as Polygraphy's `inspect model` prints one.
#include <fmt/format.h>

#include <algorithm>

#include "assay/inspect.h"
#include "inspect/text_block.h"

namespace assay {
namespace {

using Notes = std::map<std::string, std::string>;

/// An unknown extent is -1, as in TensorRT.
std::string shape_text(const Type& type) {
  if (!type.has_shape()) return "(?)";
  std::vector<int64_t> extents;
  for (const Dim& d : *type.dims) extents.push_back(d.is_known() ? d.value() : -1);
  return Shape(extents).str();
}

std::string metadata(const std::vector<IoTensor>& tensors) {
  std::string text;
  for (const IoTensor& t : tensors)
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ",\n ", t.name,
                        t.type.is_tensor()
                            ? fmt::format("dtype={}, shape={}", dtype_name(t.type.dtype), shape_text(t.type))
                            : "type=" + t.type.str());
  return "{" + text + "}";
}

std::string range_text(const OptimizationProfile::Range& r) {
  return fmt::format("min={}, opt={}, max={}", Shape(r.min).str(), Shape(r.opt).str(), Shape(r.max).str());
}

std::string profiles_text(const EngineDescription& engine) {
  const auto& io = engine.tensors;
  size_t width = 0;
  for (const IoTensor& t : io) width = std::max(width, t.name.size());
  const size_t count = std::max<size_t>(1, engine.profiles.size());
  std::string text = fmt::format("---- {} Profile(s) ({} Tensor(s) Each) ----\n", count, io.size());
  for (size_t p = 0; p < count; ++p) {
    text += fmt::format("- Profile: {}\n", p);
    for (size_t i = 0; i < io.size(); ++i) {
      const IoTensor& t = io[i];
      const OptimizationProfile::Range* range =
          t.is_input && !engine.profiles.empty() ? engine.profiles[p].find(t.name) : nullptr;
      std::string shapes = "Shape: " + shape_text(t.type);
      if (range != nullptr)
        shapes = (range->holds_values ? "Values: " : "Shapes: ") + range_text(*range);
      else if (t.is_input && t.type.has_shape())
        shapes = fmt::format("Shapes: min={0}, opt={0}, max={0}", shape_text(t.type));
      text += fmt::format("    Tensor: {:<{}} {}, Index: {} | {}\n", t.name, width + 8,
                          t.is_input ? " (Input)" : "(Output)", i, shapes);
    }
    text += "\n";
  }
  return text;
}

std::string values_text(const std::vector<PlanValueDescription>& values, const Notes& notes) {
  std::string text;
  for (const PlanValueDescription& v : values) {
    const auto note = notes.find(v.name);
    text += fmt::format("{}{} [dtype={}, shape={}, Format: {}{}]", text.empty() ? "" : ",\n ", v.name,
                        dtype_name(v.dtype), v.shape ? v.shape->str() : "(?)", v.format,
                        note == notes.end() ? "" : note->second);
  }
  return "{" + text + "}";
}

std::string layer_text(const PlanLayerDescription& layer, size_t index, bool attrs, const Notes& notes) {
  std::string text = fmt::format("Layer {:<4} | {} [Op: {}]\n", index, layer.name, layer.tactic);
  text += indented(values_text(layer.inputs, notes)) + "\n" +
          indented(" -> " + values_text(layer.outputs, notes)) + "\n";
  if (attrs) {
    std::string attributes =
        fmt::format("Origin = {}\nTactic = {}", fmt::join(layer.origins, ", "), layer.way);
    if (!layer.computes.empty()) attributes += "\nComputes = " + layer.computes;
    for (const std::string& p : layer.parameters) attributes += "\n" + p;
    text += indented("---- Attributes ----") + "\n" + indented(attributes) + "\n";
  }
  return text + "\n";
}

/// Of the near misses in text.
constexpr size_t kMostNearMisses = 20;

std::string near_misses_text(const EngineDescription& engine) {
  const auto& all = engine.near_misses;
  if (all.empty()) return {};
  std::string text =
      fmt::format("---- {} Product(s) Without an Algorithm in the Allowed Types ----\n", all.size());
  for (size_t i = 0; i < std::min(kMostNearMisses, all.size()); ++i) {
    const NearMissDescription& m = all[i];
    const std::string size =
        m.milliseconds ? fmt::format("{:.3f} ms", *m.milliseconds)
                       : fmt::format("{:.3f} M multiply-adds", 1e-6 * static_cast<double>(m.multiply_adds));
    text += fmt::format("{:<22} | {}: {}\n", size, m.layer, m.reason);
  }
  if (all.size() > kMostNearMisses) text += fmt::format("and {} more\n", all.size() - kMostNearMisses);
  return text + "\n";
}

}  // namespace

std::string engine_text(const EngineDescription& engine, const Notes& notes) {
  const std::string kind =
      engine.is_refittable ? "Refittable Explicit Batch Engine" : "Explicit Batch Engine";
  std::string text =
      fmt::format("Name: {} | {}\n\n", engine.name.empty() ? "Unnamed Network 0" : engine.name, kind);
  std::vector<IoTensor> inputs, outputs;
  for (const IoTensor& t : engine.tensors) (t.is_input ? inputs : outputs).push_back(t);
  text += fmt::format("---- {} Engine Input(s) ----\n{}\n\n", inputs.size(), metadata(inputs));
  text += fmt::format("---- {} Engine Output(s) ----\n{}\n\n", outputs.size(), metadata(outputs));
  text += fmt::format("---- Memory ----\nDevice Memory: {} bytes\n\n", engine.device_memory);
  std::vector<std::string_view> types;
  for (const DType t : engine.precisions) types.push_back(dtype_name(t));
  text += fmt::format("---- Precisions ----\nAllowed: {}\n", fmt::join(types, ", "));
  if (!engine.stored_weights.empty())
    text += fmt::format("Weights: {}\n", fmt::join(engine.stored_weights, ", "));
  text += engine.type_summary.empty() ? "\n" : fmt::format("Layers: {}\n\n", engine.type_summary);
  text += near_misses_text(engine);
  text += profiles_text(engine);
  text += fmt::format("---- {} Layer(s){} ----\n", engine.layer_count,
                      engine.plan_count > 1 ? " Per Profile" : "");
  if (engine.lacks_weights)
    text += "The weights have been left out: layers are chosen when a refit gives them.\n";
  for (size_t i = 0; i < engine.layers.size(); ++i)
    text += layer_text(engine.layers[i], i, engine.shown.attrs, notes);
  return text;
}

}  // namespace assay
