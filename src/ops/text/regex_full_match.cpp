// RegexFullMatch: whether the whole string matches a regular expression of RE2, which decides in time linear
// in the string's length.
#include <re2/re2.h>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/text/string_input.h"

namespace assay::op_onnx_RegexFullMatch {
namespace {

void infer(InferContext& c) {
  c.set_output(0, DType::kBool);
  if (c.input_dims(0) != nullptr) c.set_output(0, DType::kBool, *c.input_dims(0));
}

void eval(EvalContext& c) {
  c.check(c.has_attr("pattern"), "the attribute 'pattern' is missing");
  const std::string& pattern = c.attr_string("pattern");
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 expression(pattern, options);
  c.check(expression.ok(), "attribute 'pattern' is not a regular expression of RE2: {}", expression.error());
  Tensor y = Tensor::allocate(DType::kBool, c.shape(0));
  const std::span<const std::string> text = string_input(c, 0);
  bool* matches = y.mutable_data<bool>();
  parallel_for(y.numel(), kElementGrain / 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      matches[i] = RE2::FullMatch(text[static_cast<size_t>(i)], expression);
  });
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {20, R"(
in  X: T1
out Y: T2
attr pattern: string
type T1: string
type T2: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "RegexFullMatch",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
        },
};

}  // namespace assay::op_onnx_RegexFullMatch
