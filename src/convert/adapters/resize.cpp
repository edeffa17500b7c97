// Resize, and its predecessor Upsample: the transformation of coordinates, and its axes.
#include <algorithm>
#include <cmath>

#include "convert/rewrite.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;

/// The numbers in a constant input; nothing when it is computed.
std::optional<std::vector<double>> known_numbers(const Rewrite& r, const Value* v) {
  const std::optional<Tensor> t = r.constant_value(v);
  if (!t) return std::nullopt;
  const Tensor wide = to_float64(*t);
  return std::vector<double>(wide.data<double>(), wide.data<double>() + wide.numel());
}

void rename_to_resize(Rewrite& r) { r.node().op_type = "Resize"; }

/// Coordinates were divided by the scale; the nearest was the one below, or above where the axis shrinks.
void name_coordinates(Rewrite& r) {
  const std::optional<std::vector<double>> scales = known_numbers(r, r.input(1));
  const auto grows = [](double s) { return s > 1; };
  const auto shrinks = [](double s) { return s < 1; };
  const bool is_nearest = r.get_string("mode", "nearest") == "nearest";
  bool has_smaller = false;
  if (is_nearest && scales) {
    has_smaller = std::any_of(scales->begin(), scales->end(), shrinks);
    if (has_smaller && std::any_of(scales->begin(), scales->end(), grows))
      no_equivalent("a nearest neighbour that is the one below on some axes and the one above on others");
  }
  if (is_nearest && !scales)
    r.note("the scales are not constant; nearest neighbours are those below, as where an axis grows");
  r.node().set_inputs({r.input(0), r.constant(Tensor::vector(std::vector<float>{}), "roi"), r.input(1)});
  r.node().set_attribute("coordinate_transformation_mode", std::string("asymmetric"));
  r.node().set_attribute("nearest_mode", std::string(has_smaller ? "ceil" : "floor"));
}

/// Scales that give exactly these sizes; NoEquivalent when float32 has none.
std::vector<double> scales_of(Rewrite& r) {
  const std::vector<int64_t> sizes = r.constant_ints(kSizes, "sizes");
  const Shape in = r.shape(0);
  if (sizes.size() != in.size()) no_equivalent("{} sizes for an input of rank {}", sizes.size(), in.size());
  std::vector<double> scales;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const double size = static_cast<double>(sizes[d]), extent = static_cast<double>(in[d]);
    scales.push_back(static_cast<double>(static_cast<float>(size / extent)));
    if (scales.back() * extent != size)
      no_equivalent("the size {} of an extent of {}, of which float32 has no exact scale,", size, extent);
  }
  return scales;
}

void forget_coordinates(Rewrite& r) {
  const std::string mode = r.get_string("mode", "nearest");
  const std::string coordinates = r.get_string("coordinate_transformation_mode", "half_pixel");
  if (mode == "cubic") no_equivalent("the attribute 'mode' = 'cubic'");
  if (coordinates != "asymmetric")
    no_equivalent("the attribute 'coordinate_transformation_mode' = '{}'", coordinates);
  if (r.get_int("exclude_outside", 0) != 0) no_equivalent("the attribute 'exclude_outside' = 1");
  const bool by_sizes = r.input(kSizes) != nullptr;
  std::optional<std::vector<double>> scales = by_sizes ? scales_of(r) : known_numbers(r, r.input(kScales));
  if (mode == "nearest") {
    const std::string nearest = r.get_string("nearest_mode", "round_prefer_floor");
    if (!scales) no_equivalent("the attribute 'nearest_mode' with scales that are not constant");
    for (const double s : *scales)
      if (s != 1 && nearest != (s < 1 ? "ceil" : "floor"))
        no_equivalent("the attribute 'nearest_mode' = '{}' for the scale {}", nearest, s);
  }
  Value* input = r.input(kScales);
  if (by_sizes) input = r.constant(convert(Tensor::vector(*scales), DType::kFloat32), "scales");
  r.node().set_inputs({r.input(0), input});
  for (const char* name : {"coordinate_transformation_mode", "nearest_mode", "exclude_outside",
                           "cubic_coeff_a", "extrapolation_value"})
    r.node().remove_attribute(name);
}

void drop_empty_inputs(Rewrite& r) {
  if (r.get_string("coordinate_transformation_mode", "half_pixel") == "tf_half_pixel_for_nn")
    no_equivalent("the attribute 'coordinate_transformation_mode' = 'tf_half_pixel_for_nn'");
  for (size_t i = kRoi; i <= kScales; ++i) {
    const std::optional<Tensor> t = r.constant_value(r.input(i));
    if (t && t->numel() == 0) r.node().set_input(i, nullptr);
  }
}

void give_empty_inputs(Rewrite& r) {
  for (size_t i = kRoi; i <= kScales; ++i)
    if (r.input(i) == nullptr)
      r.node().set_input(i, r.constant(Tensor::vector(std::vector<float>{}), i == kRoi ? "roi" : "scales"));
}

/// A list for some axes as one for all; `others` holds the entries of the rest.
Value* for_all_axes(Rewrite& r, Value* list, const std::vector<int64_t>& axes,
                    const std::vector<Value*>& others) {
  std::vector<Value*> parts = others;
  for (size_t i = 0; i < axes.size(); ++i)
    parts[static_cast<size_t>(axes[i])] = r.add("Gather", {list, r.ints({static_cast<int64_t>(i)}, "place")});
  return r.add("Concat", parts, {{"axis", int64_t{0}}});
}

Value* roi_for_all_axes(Rewrite& r, const std::vector<int64_t>& axes, size_t rank) {
  const DType dtype = r.dtype(kRoi);
  std::vector<Value*> parts(2 * rank);
  for (size_t d = 0; d < rank; ++d) {
    parts[d] = r.numbers({0}, dtype, "start");
    parts[rank + d] = r.numbers({1}, dtype, "end");
  }
  std::vector<int64_t> places = axes;
  for (const int64_t a : axes) places.push_back(a + static_cast<int64_t>(rank));
  return for_all_axes(r, r.input(kRoi), places, parts);
}

void resize_all_axes(Rewrite& r) {
  std::vector<int64_t> axes = r.get_ints("axes");
  if (!r.has("axes")) return;
  const size_t rank = static_cast<size_t>(r.rank(0));
  for (int64_t& a : axes) {
    a = r.front_axis(a, 0);
    if (a < 0 || a >= static_cast<int64_t>(rank)) no_equivalent("the attribute 'axes' with the axis {}", a);
  }
  if (r.get_string("keep_aspect_ratio_policy", "stretch") != "stretch")
    no_equivalent("the attribute 'keep_aspect_ratio_policy'");
  std::vector<Value*> others(rank);
  if (r.input(kScales) != nullptr) {
    for (Value*& v : others) v = r.numbers({1}, DType::kFloat32, "one");
    r.node().set_input(kScales, for_all_axes(r, r.input(kScales), axes, others));
  }
  if (r.input(kSizes) != nullptr) {
    Value* shape = r.add("Shape", {r.input(0)});
    for (size_t d = 0; d < rank; ++d)
      if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end())
        others[d] = r.add("Gather", {shape, r.ints({static_cast<int64_t>(d)}, "place")});
    r.node().set_input(kSizes, for_all_axes(r, r.input(kSizes), axes, others));
  }
  if (r.input(kRoi) != nullptr) r.node().set_input(kRoi, roi_for_all_axes(r, axes, rank));
  r.node().remove_attribute("axes");
}

void refuse_symmetric(Rewrite& r) {
  if (r.get_string("coordinate_transformation_mode", "half_pixel") == "half_pixel_symmetric")
    no_equivalent("the attribute 'coordinate_transformation_mode' = 'half_pixel_symmetric'");
}

}  // namespace

constinit const Adapter adapter_upsample_renamed = {
    .name = "upsample_renamed", .summary = "Upsample is called Resize", .up = rename_to_resize};
constinit const Adapter adapter_resize_coordinates = {.name = "resize_coordinates",
                                                      .summary = "coordinates and rounding are attributes",
                                                      .up = name_coordinates,
                                                      .down = forget_coordinates};
constinit const Adapter adapter_resize_optional = {.name = "resize_optional",
                                                   .summary = "roi and scales may be left out",
                                                   .up = drop_empty_inputs,
                                                   .down = give_empty_inputs};
constinit const Adapter adapter_resize_axes = {
    .name = "resize_axes", .summary = "some axes may be resized only", .down = resize_all_axes};
constinit const Adapter adapter_resize_symmetric = {
    .name = "resize_symmetric", .summary = "the coordinates half_pixel_symmetric", .down = refuse_symmetric};

}  // namespace assay
