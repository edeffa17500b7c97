#include "ops/multiply_accumulates.h"

#include <algorithm>
#include <cctype>

#include "ops/op_set.h"

namespace assay {
namespace {

const std::optional<Dims>& dims_of(const Value* v) {
  static const std::optional<Dims> kNone;
  return v != nullptr && v->type.is_tensor() ? v->type.dims : kNone;
}

Count elements(const Value* v) { return Count::elements(dims_of(v)); }

/// The extent of an axis, from the end if negative; unknown when there is none.
Count extent(const Value* v, int axis) {
  const std::optional<Dims>& dims = dims_of(v);
  if (!dims) return Count::unknown();
  const int rank = static_cast<int>(dims->size());
  const int at = axis < 0 ? axis + rank : axis;
  return at >= 0 && at < rank ? Count::of((*dims)[static_cast<size_t>(at)]) : Count::unknown();
}

/// Elements of one filter: every extent but the first.
Count filter(const Value* weights) {
  const std::optional<Dims>& dims = dims_of(weights);
  if (!dims || dims->empty()) return Count::unknown();
  return Count::elements(Dims(dims->begin() + 1, dims->end()));
}

template <size_t weights>
Count conv(const Node& n) {
  return elements(n.output(0)) * filter(n.input(weights));
}

Count conv_transpose(const Node& n) { return elements(n.input(0)) * filter(n.input(1)); }

Count mat_mul(const Node& n) { return elements(n.output(0)) * extent(n.input(0), -1); }

Count gemm(const Node& n) {
  const Attribute* a = n.find_attribute("transA");
  const auto* transposed = a != nullptr ? a->get_if<int64_t>() : nullptr;
  return elements(n.output(0)) * extent(n.input(0), transposed != nullptr && *transposed != 0 ? 0 : 1);
}

/// LSTM, GRU, RNN: every step multiplies with all of W and R.
Count recurrent(const Node& n) {
  return extent(n.input(0), 0) * extent(n.input(0), 1) * (elements(n.input(1)) + elements(n.input(2)));
}

/// Every combination of indices is visited once, with a multiplication for each operand but the first.
Count einsum(const Node& n) {
  const Attribute* a = n.find_attribute("equation");
  const auto* equation = a != nullptr ? a->get_if<std::string>() : nullptr;
  if (equation == nullptr || equation->find('.') != std::string::npos) return Count::unknown();
  std::string seen;
  Count combinations = 1;
  size_t operand = 0;
  int axis = 0;
  for (const char c : equation->substr(0, equation->find("->"))) {
    if (c == ',') {
      ++operand;
      axis = 0;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      if (seen.find(c) == std::string::npos) combinations = combinations * extent(n.input(operand), axis);
      seen += c;
      ++axis;
    }
  }
  return combinations * Count(static_cast<int64_t>(operand));
}

/// Scores and their product with the values, over all keys, those of the past included.
Count attention(const Node& n) {
  const std::optional<Dims>& key = dims_of(n.input(1));
  if (!key) return Count::unknown();
  Count keys = extent(n.input(1), key->size() == 4 ? 2 : 1);
  if (n.input(4) != nullptr) keys += extent(n.input(4), 2);
  return (elements(n.input(0)) + elements(n.output(0))) * keys;
}

struct Cost {
  std::string_view op;
  Count (*macs)(const Node&);
};
constexpr Cost kCosts[] = {
    {"Conv", conv<1>},
    {"ConvInteger", conv<1>},
    {"QLinearConv", conv<3>},
    {"DeformConv", conv<1>},
    {"ConvTranspose", conv_transpose},
    {"MatMul", mat_mul},
    {"MatMulInteger", mat_mul},
    {"QLinearMatMul", mat_mul},
    {"Gemm", gemm},
    {"LSTM", recurrent},
    {"GRU", recurrent},
    {"RNN", recurrent},
    {"Einsum", einsum},
    {"Attention", attention},
};

}  // namespace

Count multiply_accumulates(const Node& node) {
  if (built_in_ops().find(node.domain, node.op_type) == nullptr) return Count::unknown();
  if (!node.domain.empty() && node.domain != "ai.onnx") return 0;
  const auto* cost =
      std::find_if(std::begin(kCosts), std::end(kCosts), [&](const Cost& c) { return c.op == node.op_type; });
  return cost == std::end(kCosts) ? Count(0) : cost->macs(node);
}

}  // namespace assay
