// Forms that opsets 1 to 9 changed: attributes of other names and kinds, switches for training.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

void drop_consumed_inputs(Rewrite& r) { r.node().remove_attribute("consumed_inputs"); }

void name_consumed_inputs(Rewrite& r) {
  r.node().set_attribute("consumed_inputs", std::vector<int64_t>{0, 0, 0, 1, 1});
}

void number_target(Rewrite& r) {
  std::string name = r.get_string("to", "");
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::optional<DType> to = dtype_from_name(name);
  if (!to) no_equivalent("the attribute 'to', which names the unknown element type '{}',", name);
  r.node().set_attribute("to", static_cast<int64_t>(*to));
}

void name_target(Rewrite& r) {
  std::string name(onnx_name(static_cast<DType>(r.get_int("to", 0))));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  r.node().set_attribute("to", name);
}

void write_default_axis(Rewrite& r) { r.node().set_attribute("axis", r.get_int("axis", 1)); }

void spell_forward(Rewrite& r) {
  if (r.get_string("direction", "foward") == "foward")
    r.node().set_attribute("direction", std::string("forward"));
}

void drop_output_sequence(Rewrite& r) {
  r.node().remove_attribute("output_sequence");
  if (r.has("direction")) spell_forward(r);
}

void ask_output_sequence(Rewrite& r) {
  if (r.output(0) != nullptr) r.node().set_attribute("output_sequence", int64_t{1});
}

void whole_exponent(Rewrite& r) {
  if (!r.has("p")) return;
  const double p = r.get_float("p", 2);
  if (p != std::floor(p)) no_equivalent("the attribute 'p' = {}, which is not a whole number,", p);
  r.node().set_attribute("p", static_cast<int64_t>(p));
}

void float_exponent(Rewrite& r) {
  if (r.has("p")) r.node().set_attribute("p", static_cast<float>(r.get_int("p", 2)));
}

void pads_from_paddings(Rewrite& r) { r.rename_attribute("paddings", "pads"); }
void paddings_from_pads(Rewrite& r) { r.rename_attribute("pads", "paddings"); }

void lengths_to_attribute(Rewrite& r) {
  if (r.input(1) == nullptr) return;
  r.node().set_attribute("split", r.constant_ints(1, "split"));
  r.node().set_inputs({r.input(0)});
}

void tiles_to_repeats(Rewrite& r) {
  std::vector<int64_t> repeats(static_cast<size_t>(r.rank(0)), 1);
  const std::vector<int64_t> tiles = r.constant_ints(1, "tiles"), axis = r.constant_ints(2, "axis");
  if (tiles.size() != 1 || axis.size() != 1) no_equivalent("a list of tiles or axes");
  const int64_t at = r.front_axis(axis[0], 0);
  if (at < 0 || at >= static_cast<int64_t>(repeats.size()))
    no_equivalent("the axis {} of an input of rank {}", axis[0], repeats.size());
  repeats[static_cast<size_t>(at)] = tiles[0];
  r.node().set_inputs({r.input(0), r.ints(repeats, "repeats")});
}

/// One Tile for each axis.
void repeats_to_tiles(Rewrite& r) {
  const std::vector<int64_t> repeats = r.constant_ints(1, "repeats");
  const DType dtype = r.dtype(0);
  Value* x = r.input(0);
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] == 1) continue;
    x = r.add("Tile", {x, r.number(static_cast<double>(repeats[d]), dtype, "tiles"),
                       r.number(static_cast<double>(d), dtype, "axis")});
  }
  r.replace({x});
}

void shape_to_input(Rewrite& r) {
  r.node().set_inputs({r.input(0), r.ints(r.get_ints("shape"), "shape")});
  r.node().remove_attribute("shape");
}

void shape_to_attribute(Rewrite& r) {
  r.node().set_attribute("shape", r.constant_ints(1, "shape"));
  r.node().set_inputs({r.input(0)});
}

void scales_from_extents(Rewrite& r) {
  r.node().set_attribute("scales",
                         std::vector<float>{1, 1, static_cast<float>(r.get_float("height_scale", 1)),
                                            static_cast<float>(r.get_float("width_scale", 1))});
  r.node().remove_attribute("height_scale");
  r.node().remove_attribute("width_scale");
}

void extents_from_scales(Rewrite& r) {
  const Attribute* a = r.node().find_attribute("scales");
  const auto* scales = a != nullptr ? a->get_if<std::vector<float>>() : nullptr;
  if (scales == nullptr || scales->size() != 4 || (*scales)[0] != 1 || (*scales)[1] != 1)
    no_equivalent("a scale of anything but height and width");
  const float height = (*scales)[2], width = (*scales)[3];
  r.node().remove_attribute("scales");
  r.node().set_attribute("height_scale", height);
  r.node().set_attribute("width_scale", width);
}

void drop_broadcast(Rewrite& r) { r.node().remove_attribute("broadcast"); }
void ask_broadcast(Rewrite& r) { r.node().set_attribute("broadcast", int64_t{1}); }

/// Only the outputs show whether batch statistics are requested.
void batch_norm_leave_test(Rewrite& r) {
  if (r.get_int("is_test", 0) != 0) r.node().set_outputs({r.output(0)});
  r.node().remove_attribute("is_test");
}

void batch_norm_enter_test(Rewrite& r) {
  r.node().set_attribute("is_test", static_cast<int64_t>(r.node().outputs().size() == 1));
}

/// Dropout is controlled by a separate input since opset 12.
void dropout_leave_test(Rewrite& r) {
  const bool is_test = r.get_int("is_test", 0) != 0;
  r.node().remove_attribute("is_test");
  if (is_test) return;
  r.set_opset(12);
  Value* ratio = r.number(r.get_float("ratio", 0.5), DType::kFloat32, "ratio");
  Value* training = r.constant(Tensor::scalar(true), "training_mode");
  std::vector<Value*> out =
      r.add_multi("Dropout", {r.input(0), ratio, training}, {}, r.is_used(1) ? size_t{2} : size_t{1});
  if (out.size() == 2) out[1] = r.add("Cast", {out[1]}, {{"to", static_cast<int64_t>(r.dtype(0))}});
  r.replace(out);
}

void dropout_enter_test(Rewrite& r) { r.node().set_attribute("is_test", int64_t{1}); }

}  // namespace

constinit const Adapter adapter_consumed_inputs = {
    .name = "consumed_inputs", .summary = "a hint to reuse memory is gone", .up = drop_consumed_inputs};
constinit const Adapter adapter_batch_norm_consumed = {.name = "batch_norm_consumed",
                                                       .summary = "a hint to reuse memory is gone",
                                                       .up = drop_consumed_inputs,
                                                       .down = name_consumed_inputs};
constinit const Adapter adapter_cast_target_name = {.name = "cast_target_name",
                                                    .summary = "the target type is a number, not a name",
                                                    .up = number_target,
                                                    .down = name_target};
constinit const Adapter adapter_concat_default_axis = {
    .name = "concat_default_axis", .summary = "the axis 1 must be written out", .up = write_default_axis};
constinit const Adapter adapter_gru_direction = {
    .name = "gru_direction", .summary = "the default direction is spelt right", .up = spell_forward};
constinit const Adapter adapter_output_sequence = {.name = "output_sequence",
                                                   .summary = "an output that is named is given",
                                                   .up = drop_output_sequence,
                                                   .down = ask_output_sequence};
constinit const Adapter adapter_whole_exponent = {.name = "whole_exponent",
                                                  .summary = "the exponent p is an integer",
                                                  .up = whole_exponent,
                                                  .down = float_exponent};
constinit const Adapter adapter_pad_paddings = {.name = "pad_paddings",
                                                .summary = "'paddings' is called 'pads'",
                                                .up = pads_from_paddings,
                                                .down = paddings_from_pads};
constinit const Adapter adapter_split_lengths = {
    .name = "split_lengths", .summary = "the lengths are an attribute only", .up = lengths_to_attribute};
constinit const Adapter adapter_tile_repeats = {.name = "tile_repeats",
                                                .summary = "one number for each axis, not one axis at a time",
                                                .up = tiles_to_repeats,
                                                .down = repeats_to_tiles};
constinit const Adapter adapter_reshape_input = {.name = "reshape_input",
                                                 .summary = "the shape is an input",
                                                 .up = shape_to_input,
                                                 .down = shape_to_attribute};
constinit const Adapter adapter_upsample_scales = {.name = "upsample_scales",
                                                   .summary = "one scale for each axis",
                                                   .up = scales_from_extents,
                                                   .down = extents_from_scales};
constinit const Adapter adapter_gemm_broadcast = {.name = "gemm_broadcast",
                                                  .summary = "C is broadcast without being asked",
                                                  .up = drop_broadcast,
                                                  .down = ask_broadcast};
constinit const Adapter adapter_batch_norm_is_test = {
    .name = "batch_norm_is_test",
    .summary = "the number of outputs says whether it trains",
    .up = batch_norm_leave_test,
    .down = batch_norm_enter_test};
constinit const Adapter adapter_dropout_is_test = {.name = "dropout_is_test",
                                                   .summary = "no training until opset 12",
                                                   .up = dropout_leave_test,
                                                   .down = dropout_enter_test};

}  // namespace assay
