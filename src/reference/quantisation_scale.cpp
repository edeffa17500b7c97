#include "reference/quantisation_scale.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace assay {
namespace {

struct Scale {
  std::string_view op_type;
  int input;
};

constexpr Scale kScales[] = {
    {"QuantizeLinear", 1},     {"QLinearConv", 6},
    {"QLinearMatMul", 6},      {"QLinearAdd", 6},
    {"QLinearMul", 6},         {"QGemm", 6},
    {"QLinearLeakyRelu", 3},   {"QLinearSigmoid", 3},
    {"QLinearAveragePool", 3}, {"QLinearGlobalAveragePool", 3},
};

}  // namespace

int quantisation_scale_input(const Node& n) {
  const auto* found = std::ranges::find(kScales, n.op_type, &Scale::op_type);
  return found == std::end(kScales) || static_cast<size_t>(found->input) >= n.inputs().size() ? -1
                                                                                              : found->input;
}

bool gives_whole_numbers(const Node& n) {
  static constexpr std::string_view kNames[] = {"Ceil", "Floor", "Round", "Sign"};
  return n.domain.empty() && std::ranges::find(kNames, n.op_type) != std::end(kNames);
}

bool gives_levels(const Node& n) {
  return n.op_type == "QuantizeLinear" || n.op_type == "DynamicQuantizeLinear" || n.op_type == "QGemm" ||
         n.op_type.starts_with("QLinear");
}

}  // namespace assay
