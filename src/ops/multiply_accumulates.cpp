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

}  // namespace

Count conv_macs(const Node& n, const OpDef&) { return elements(n.output(0)) * filter(n.input(1)); }

Count q_linear_conv_macs(const Node& n, const OpDef&) { return elements(n.output(0)) * filter(n.input(3)); }

Count conv_transpose_macs(const Node& n, const OpDef&) { return elements(n.input(0)) * filter(n.input(1)); }

Count mat_mul_macs(const Node& n, const OpDef&) { return elements(n.output(0)) * extent(n.input(0), -1); }

Count gemm_macs(const Node& n, const OpDef&) {
  const Attribute* a = n.find_attribute("transA");
  const auto* transposed = a != nullptr ? a->get_if<int64_t>() : nullptr;
  return elements(n.output(0)) * extent(n.input(0), transposed != nullptr && *transposed != 0 ? 0 : 1);
}

Count recurrent_macs(const Node& n, const OpDef&) {
  return extent(n.input(0), 0) * extent(n.input(0), 1) * (elements(n.input(1)) + elements(n.input(2)));
}

Count einsum_macs(const Node& n, const OpDef&) {
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

Count attention_macs(const Node& n, const OpDef&) {
  const std::optional<Dims>& key = dims_of(n.input(1));
  if (!key) return Count::unknown();
  Count keys = extent(n.input(1), key->size() == 4 ? 2 : 1);
  if (n.input(4) != nullptr) keys += extent(n.input(4), 2);
  return (elements(n.input(0)) + elements(n.output(0))) * keys;
}

Count multiply_accumulates(const Node& node, const OpDef* op) {
  if (op == nullptr) return Count::unknown();
  return op->facts.multiply_accumulates != nullptr ? op->facts.multiply_accumulates(node, *op) : Count(0);
}

}  // namespace assay
