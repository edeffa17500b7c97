// StringNormalizer: drops the elements that are stop words, then changes the letters' case. The rest of [C]
// or [1, C] is never empty: one empty string stands for nothing.
//
// Case follows Unicode's simple mappings; of `locale` only the language matters, and only for Turkish and
// Azerbaijani. Two words are the same, unless case matters, when they are so in the case that is asked for
// (lower where none is).
#include <algorithm>
#include <unordered_set>

#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/text/letter_case.h"
#include "ops/text/string_input.h"

namespace assay::op_onnx_StringNormalizer {
namespace {

void infer(InferContext& c) {
  c.set_output(0, DType::kString);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return;
  c.check(in->size() == 1 || in->size() == 2, "the input has rank {}; it must be [C] or [1, C]", in->size());
  Dims out(in->size());
  if (in->size() == 2) {
    const Dim& rows = (*in)[0];
    c.check(!rows.is_known() || rows.value() == 1, "the input has {} rows; it must be [C] or [1, C]",
            rows.value());
    out[0] = Dim(1);
  }
  c.set_output(0, DType::kString, std::move(out));
}

/// The case that `case_change_action` asks for; nothing for NONE.
std::optional<LetterCase> read_action(const OpContext& c) {
  const std::string& action = c.attr_string("case_change_action");
  if (action == "LOWER") return LetterCase::kLower;
  if (action == "UPPER") return LetterCase::kUpper;
  c.check(action == "NONE", "attribute 'case_change_action' is '{}'; it must be LOWER, UPPER or NONE",
          action);
  return std::nullopt;
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  c.check(in.rank() == 1 || (in.rank() == 2 && in[0] == 1),
          "the input has shape {}; it must be [C] or [1, C]", in.str());
  const std::optional<LetterCase> action = read_action(c);
  const CaseRules rules = case_rules(c.has_attr("locale") ? c.attr_string("locale") : "");
  const bool sensitive = c.attr_int("is_case_sensitive") != 0;
  const auto comparable = [&](const std::string& word) {
    return sensitive ? word : to_case(word, action.value_or(LetterCase::kLower), rules);
  };
  std::unordered_set<std::string> stop_words;
  for (const std::string& word : c.attr_strings("stopwords")) stop_words.insert(comparable(word));
  std::vector<std::string> kept;
  for (const std::string& word : string_input(c, 0)) {
    if (!stop_words.empty() && stop_words.contains(comparable(word))) continue;
    kept.push_back(action ? to_case(word, *action, rules) : word);
  }
  if (kept.empty()) kept.emplace_back();
  Shape out = in;
  out[out.size() - 1] = static_cast<int64_t>(kept.size());
  c.set_output(0, Tensor::from<std::string>(out, kept));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  X: string
out Y: string
attr stopwords: strings
attr locale: string
attr is_case_sensitive: int = 0
attr case_change_action: string = "NONE")",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "", .name = "StringNormalizer", .versions = kVersions};

}  // namespace assay::op_onnx_StringNormalizer
