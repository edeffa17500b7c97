#include "engine/tactics/product/tiled_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"
#include "engine/runtime/arena.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine {

std::string read_matrix_product(const Problem& problem, MatrixProduct& p) {
  if (std::string reason = read_product(problem, p); !reason.empty()) return reason;
  if (!p.packed) return "the right operand is not a constant matrix";
  if (!is_dense(p.a) || !is_dense(p.out) || p.rearranged) return "an operand or the result is rearranged";
  if (problem.region().transposed[0] != nullptr) return "the left operand is transposed";
  if (p.weight_scale != 1) return "alpha is not 1";
  return tile_epilogue_refusal(problem, p.epilogue);
}

std::string read_conv_window(const Problem& p, ConvProduct& conv, ConvGroups groups) {
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  const Shape* in = p.input_shape(0);
  if (in == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_constant(1) == nullptr) return "the weights are not constant";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (p.output_shape(0)->numel() == 0) return "the result is empty";
  const ConvPlan plan = plan_conv(p.attributes(), *in, p.input_constant(1)->shape());
  const kernels::ConvSize& size = plan.size;
  conv.is_depthwise =
      size.groups > 1 && size.groups == size.in_channels && size.out_channels == size.in_channels;
  conv.groups = conv.is_depthwise ? 1 : size.groups;
  if (conv.groups > 1 && groups == ConvGroups::kRefused) return "it has groups of several channels";
  conv.window = plan.window;
  conv.in_channels = size.in_channels;
  conv.size = {size.batch * conv.window.out_size(), size.out_channels,
               size.in_channels / size.groups * conv.window.taps()};
  return {};
}

std::string read_conv_product(const Problem& p, ConvProduct& conv, ConvGroups groups) {
  if (std::string reason = read_conv_window(p, conv, groups); !reason.empty()) return reason;
  if (p.has_input(2) && p.input_constant(2) == nullptr) return "the bias is not constant";
  if (p.has_input(2) && p.input_constant(2)->numel() != conv.size.n)
    return "the bias is not one number per channel";
  return tile_epilogue_refusal(p, p.region().epilogue);
}

std::vector<Layout> product_layouts(const Problem& p, const ConvProduct& conv) {
  std::vector<Layout> layouts = {Layout::channels_last()};
  if (p.output_dtype(0) != DType::kFloat32) return layouts;
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0)))
    if (layout.is_blocked() && conv.in_channels % layout.block == 0 && conv.size.n % layout.block == 0)
      layouts.push_back(layout);
  return layouts;
}

ConvFields conv_fields(const ConvProduct& conv) {
  const kernels::Window& w = conv.window;
  return {.kernel = w.kernel,
          .strides = w.strides,
          .dilations = w.dilations,
          .begin = w.begin,
          .end = w.end,
          .is_depthwise = conv.is_depthwise,
          .groups = conv.groups};
}

std::string tile_epilogue_refusal(const Problem& p, const std::vector<EpilogueStep>& epilogue) {
  if (!is_tile_type(p.output_dtype(0))) return "the result is neither float32 nor of 8 bits";
  for (const EpilogueStep& s : epilogue)
    if (s.operand != nullptr && p.shape(s.operand) == nullptr)
      return "the shape of an operand is not known before the run";
  return {};
}

void write_tile_epilogue(const Problem& p, const std::vector<EpilogueStep>& epilogue, Format whole,
                         Candidate& b) {
  const Layout layout = whole.layout;
  EpilogueSpec spec = epilogue_spec(p, epilogue, layout, b.inputs.size());
  OperandFields operands;
  for (size_t i = 0; i < epilogue.size(); ++i) {
    spec.entries[i].may_accumulate = false;
    if (epilogue[i].operand == nullptr) continue;
    // Numbers of 8 bits are not stored in blocks.
    const auto q = layout.is_blocked() ? std::nullopt : quantization_of(epilogue[i].operand);
    if (q)
      spec.entries[i].format.dtype = q->dtype;
    else if (may_be_stored_in(p, epilogue[i].operand, whole.dtype) &&
             *p.shape(epilogue[i].operand) == *p.output_shape(0))
      spec.entries[i].format.dtype = whole.dtype;
    operands.scales.push_back(q ? double{q->scale} : 1);
    operands.zero_points.push_back(q ? q->zero_point : 0);
  }
  b.write(std::move(operands));
  write_epilogue(epilogue, spec, b);
}

}  // namespace assay::engine
