// ConvInteger with constant weights, channels last: exact sums of products of 8-bit integers less their zero
// points, and the float32 numbers that they become.
#include "engine/tactics/conv/integer_conv_kernel.h"
#include "engine/tactics/product/integer_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_integer_conv {
namespace {

constexpr std::string_view kOperators[] = {"ConvInteger"};

std::string propose(const Problem& p, Proposals& proposals) {
  ConvProduct conv;
  if (std::string reason = read_conv_window(p, conv, ConvGroups::kTaken); !reason.empty()) return reason;
  const ProductSize& size = conv.size;
  if (std::string reason = integer_refusal(p, size.n); !reason.empty()) return reason;
  if (std::string reason = int8_sum_refusal(size, conv.is_depthwise); !reason.empty()) return reason;
  Candidate& b =
      proposals.add(std::string(int8_conv_way(conv)),
                    p.region().epilogue.empty() ? NumericsClass::kExact : NumericsClass::kReassociated);
  write_integer(
      p, Layout::channels_last(), size.k, int8_conv_packing(conv),
      [conv](const std::vector<int16_t>& numbers) { return pack_int8_conv(conv, numbers); }, b);
  write_int8_conv(p, conv, b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "integer_conv",
    .summary =
        "exact convolution of 8-bit integers with constant weights, channels last, as int32 or on in float32",
    .version = 5,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_integer_conv
