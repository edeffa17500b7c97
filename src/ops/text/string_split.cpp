// StringSplit: every string cut at a delimiter, into a new last dimension that is padded with empty strings,
// and how many pieces each has. Without a delimiter, runs of white space (Unicode's property White_Space)
// separate, and those at the ends are dropped. What is left after `maxsplit` cuts is the last piece, as it
// is: Python's str.split.
#include <algorithm>

#include "base/utf8.h"
#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "ops/text/string_input.h"

namespace assay::op_onnx_StringSplit {
namespace {

using Pieces = std::vector<std::string_view>;

void infer(InferContext& c) {
  c.set_output(1, DType::kInt64);
  c.set_output(0, DType::kString);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return;
  Dims pieces = *in;
  pieces.emplace_back();
  c.set_output(0, DType::kString, std::move(pieces));
  c.set_output(1, DType::kInt64, *in);
}

bool is_white_space(char32_t p) {
  return (p >= 0x9 && p <= 0xD) || p == ' ' || p == 0x85 || p == 0xA0 || p == 0x1680 ||
         (p >= 0x2000 && p <= 0x200A) || p == 0x2028 || p == 0x2029 || p == 0x202F || p == 0x205F ||
         p == 0x3000;
}

/// The text from its first code point that is (or is not) white space.
std::string_view from_first(std::string_view text, bool white) {
  while (!text.empty()) {
    std::string_view rest = text;
    if (is_white_space(take_code_point(rest)) == white) break;
    text = rest;
  }
  return text;
}

Pieces split_at_white_space(std::string_view text, int64_t most) {
  Pieces pieces;
  for (text = from_first(text, false); !text.empty(); text = from_first(text, false)) {
    if (static_cast<int64_t>(pieces.size()) == most) {
      pieces.push_back(text);
      break;
    }
    const std::string_view rest = from_first(text, true);
    pieces.push_back(text.substr(0, text.size() - rest.size()));
    text = rest;
  }
  return pieces;
}

Pieces split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  Pieces pieces;
  while (static_cast<int64_t>(pieces.size()) < most) {
    const size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  pieces.push_back(text);
  return pieces;
}

void eval(EvalContext& c) {
  const std::string delimiter = c.has_attr("delimiter") ? c.attr_string("delimiter") : "";
  const int64_t limit = c.attr_int("maxsplit", -1), most = limit < 0 ? INT64_MAX : limit;
  const auto split = [&](std::string_view text) {
    return delimiter.empty() ? split_at_white_space(text, most) : split_at(text, delimiter, most);
  };
  const std::span<const std::string> in = string_input(c, 0);
  Tensor counts = Tensor::allocate(DType::kInt64, c.shape(0));
  auto* count = counts.mutable_data<int64_t>();
  parallel_for(c.input(0).numel(), kElementGrain / 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      count[i] = static_cast<int64_t>(split(in[static_cast<size_t>(i)]).size());
  });
  const int64_t width = in.empty() ? 0 : *std::max_element(count, count + in.size());
  Shape shape = c.shape(0);
  shape.push_back(width);
  Tensor out = checked_allocation(DType::kString, shape);
  auto* to = out.mutable_data<std::string>();
  parallel_for(c.input(0).numel(), kElementGrain / 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Pieces pieces = split(in[static_cast<size_t>(i)]);
      std::copy(pieces.begin(), pieces.end(), to + i * width);
    }
  });
  c.set_output(0, std::move(out));
  c.set_output(1, std::move(counts));
}

constexpr OpVersion kVersions[] = {
    {20, R"(
in  X: T1
out Y: T2
out Z: T3
attr maxsplit: int
attr delimiter: string
type T1: string
type T2: string
type T3: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "", .name = "StringSplit", .versions = kVersions};

}  // namespace assay::op_onnx_StringSplit
