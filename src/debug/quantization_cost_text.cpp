// What 8 bits cost, as text, CSV and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_writer.h"
#include "base/python_repr.h"
#include "debug/csv_field.h"
#include "debug/quantization_study.h"

namespace assay::debug {
namespace {

std::string decibels_text(double decibels) {
  return std::isinf(decibels) && decibels > 0 ? "exact" : fmt::format("{:.1f} dB", decibels);
}

std::string held_text(const QuantizationCost& cost) {
  const std::vector<std::string> held = held_layers(cost);
  if (!cost.goal) return {};
  return fmt::format("\n{} of {} layers stay in float32 for {}: {}", held.size(), cost.layers.size(),
                     cost.goal->str(), cost.answer.str());
}

void write_accuracy(JsonWriter& json, const Accuracy& accuracy) {
  json.begin_object();
  for (const auto& [name, value] : accuracy.measures()) json.key(name).value(value);
  json.end_object();
}

}  // namespace

std::string cost_text(const QuantizationCost& cost, size_t most) {
  std::string text = fmt::format(
      "Products in 8 bits, over {} set(s) of inputs: all {} together: {}\n{:>8} {:>10} {:>10} "
      "{:>12} {:>10}  layer",
      cost.sets, cost.layers.size(), cost.all_lowered.str(), "error", "own SQNR", "saturated",
      cost.is_timed ? "gain (time)" : "gain (est.)", "M mult-adds");
  for (size_t i = 0; i < std::min(most, cost.layers.size()); ++i) {
    const LayerCost& l = cost.layers[i];
    text += fmt::format("\n{:>7.2f}% {:>10} {:>9.3f}% {:>9.1f} us {:>11.3f}  {} ({}){}", 100 * l.error_share,
                        decibels_text(l.decibels), 100 * l.saturated, 1e6 * l.seconds_gained,
                        1e-6 * static_cast<double>(l.multiply_adds), l.layer, l.op_type,
                        l.is_held ? ", stays in float32" : "");
  }
  if (cost.layers.size() > most) text += fmt::format("\nand {} more", cost.layers.size() - most);
  return text + held_text(cost);
}

std::string cost_csv(const QuantizationCost& cost) {
  std::string text = "layer,op_type,error_share,sqnr_db,saturated,seconds_gained,multiply_adds,float32\n";
  for (const LayerCost& l : cost.layers)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(l.layer), csv_field(l.op_type),
                        python_float_repr(l.error_share), python_float_repr(l.decibels),
                        python_float_repr(l.saturated), python_float_repr(l.seconds_gained), l.multiply_adds,
                        l.is_held ? 1 : 0);
  return text;
}

std::string cost_json(const QuantizationCost& cost) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object();
  json.key("sets").value(static_cast<uint64_t>(cost.sets));
  json.key("timed").value(cost.is_timed);
  json.key("all_in_int8");
  write_accuracy(json, cost.all_lowered);
  if (cost.goal) {
    json.key("target").value(cost.goal->str()).key("answer");
    write_accuracy(json, cost.answer);
  }
  json.key("layers").begin_array();
  for (const LayerCost& l : cost.layers) {
    json.begin_object().key("layer").value(l.layer).key("op_type").value(l.op_type);
    json.key("error_share").value(l.error_share).key("sqnr_db").value(l.decibels);
    json.key("saturated").value(l.saturated).key("seconds_gained").value(l.seconds_gained);
    json.key("multiply_adds").value(l.multiply_adds).key("float32").value(l.is_held).end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

}  // namespace assay::debug
