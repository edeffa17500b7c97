#include "inspect/engine_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/objects/state.h"
#include "graph/metadata_text.h"
#include "inspect/text_block.h"

namespace assay {
namespace {

/// An extent that is not known is -1, as TensorRT has it.
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

std::string profiles_text(const Engine& engine) {
  const auto& io = engine.io_tensors();
  size_t width = 0;
  for (const IoTensor& t : io) width = std::max(width, t.name.size());
  const size_t count = std::max<size_t>(1, engine.profiles().size());
  std::string text = fmt::format("---- {} Profile(s) ({} Tensor(s) Each) ----\n", count, io.size());
  for (size_t p = 0; p < count; ++p) {
    text += fmt::format("- Profile: {}\n", p);
    for (size_t i = 0; i < io.size(); ++i) {
      const IoTensor& t = io[i];
      const OptimizationProfile::Range* range =
          t.is_input && !engine.profiles().empty() ? engine.profiles()[p].find(t.name) : nullptr;
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

std::string values_text(const engine::Plan& plan, const std::vector<int32_t>& ids,
                        const std::map<std::string, std::string>& notes) {
  std::string text;
  for (const int32_t id : ids) {
    if (id < 0) continue;
    const engine::PlanValue& v = plan.values[static_cast<size_t>(id)];
    const std::string shape = v.has_shape ? v.shape.str() : "(?)";
    const std::string format = v.layout.is_blocked() ? fmt::format("Channels in blocks of {}", v.layout.block)
                               : v.layout.is_channels_last() ? "Channels last"
                                                             : "Row major linear";
    const auto note = notes.find(v.name);
    text += fmt::format("{}{} [dtype={}, shape={}, Format: {}{}]", text.empty() ? "" : ",\n ", v.name,
                        dtype_name(v.dtype), shape, format, note == notes.end() ? "" : note->second);
  }
  return "{" + text + "}";
}

std::string layers_text(const engine::Plan& plan, const EngineTextOptions& options) {
  std::string text;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const engine::Step& step = plan.steps[i];
    text += fmt::format("Layer {:<4} | {} [Op: {}]\n", i, engine::step_name(step), step.tactic);
    text += indented(values_text(plan, step.inputs, options.notes)) + "\n" +
            indented(" -> " + values_text(plan, step.outputs, options.notes)) + "\n";
    if (options.attrs) {
      text += indented("---- Attributes ----") + "\n";
      std::string attributes = "Origin = ";
      for (size_t k = 0; k < step.origins.size(); ++k) attributes += (k > 0 ? ", " : "") + step.origins[k];
      attributes += "\nTactic = " + engine::tactic_text(step);
      for (const auto& [name, value] : step.parameters.entries())
        attributes += "\n" + engine::parameter_text(name, value);
      text += indented(attributes) + "\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string engine_text(const Engine& engine, const EngineTextOptions& options) {
  const std::string kind =
      engine.is_refittable() ? "Refittable Explicit Batch Engine" : "Explicit Batch Engine";
  std::string text =
      fmt::format("Name: {} | {}\n\n", engine.name().empty() ? "Unnamed Network 0" : engine.name(), kind);
  const std::vector<IoTensor> inputs = engine.inputs(), outputs = engine.outputs();
  text += fmt::format("---- {} Engine Input(s) ----\n{}\n\n", inputs.size(), metadata(inputs));
  text += fmt::format("---- {} Engine Output(s) ----\n{}\n\n", outputs.size(), metadata(outputs));
  text += fmt::format("---- Memory ----\nDevice Memory: {} bytes\n\n", engine.device_memory_size());
  text += profiles_text(engine);
  const auto& plans = engine.state().saved.plans;
  const engine::Plan* plan = plans.empty() ? nullptr : plans.front().plan.get();
  text += fmt::format("---- {} Layer(s){} ----\n", plan != nullptr ? plan->steps.size() : 0,
                      plans.size() > 1 ? " Per Profile" : "");
  if (engine.lacks_weights())
    text += "The weights have been left out: layers are chosen when a refit gives them.\n";
  if (options.layers && plan != nullptr) text += layers_text(*plan, options);
  return text;
}

}  // namespace assay
