// Convolution of 8-bit integers, from DequantizeLinear to QuantizeLinear, channels last: a product of
// gathered rows, or every channel on its own.
#include "engine/tactics/conv/int8_conv_kernel.h"
#include "engine/tactics/product/int8_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_int8_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

std::string propose(const Problem& p, Proposals& proposals) {
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv, ConvGroups::kTaken); !reason.empty()) return reason;
  const ProductSize& size = conv.size;
  Int8Operands operands;
  if (std::string reason = read_int8(p, p.node().input(0), p.node().input(1), 0, operands); !reason.empty())
    return reason;
  if (std::string reason = int8_sum_refusal(size, conv.is_depthwise); !reason.empty()) return reason;
  Candidate& b = proposals.add(std::string(int8_conv_way(conv)), NumericsClass::kReassociated);
  write_int8(
      p, operands, p.node().input(0), p.node().input(1), p.node().input(2), 1, p.region().epilogue, size.n,
      Layout::channels_last(), int8_conv_packing(conv),
      [conv, source = *operands.weights] { return pack_int8_conv(conv, int8_numbers(source)); }, b);
  write_int8_conv(p, conv, b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "int8_conv",
    .summary = "convolution of 8-bit integers between DequantizeLinear and QuantizeLinear, channels last",
    .version = 9,
    .operators = kOperators,
    .takes_regions = true,
    .looks_up = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_int8_conv
