// Where two choose different tokens, and which of them float64 confirms.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generate/interface.h"
#include "generate/prompts.h"
#include "generate/sampling.h"

namespace assay {
class JsonWriter;
}

namespace assay::generate {

/// One of two that part.
struct Side {
  std::string name;
  int64_t token = 0;
  std::vector<RankedToken> best;  ///< its two most likely ones
  double other_logit = 0;         ///< that it gives the other's token
  double error = 0;               ///< the largest of its logits, in the judgement
};

enum class Explanation : uint8_t {
  kNotJudged,
  kRounding,  ///< both are as near to float64 as rounding lets them be
  kFirstWrong,
  kSecondWrong,
  kBothWrong,
};
std::string_view explanation_name(Explanation e);

/// Where two backends choose different tokens for the first time.
struct Parting {
  size_t prompt = 0;
  size_t index = 0;  ///< of the generated token
  Side first, second;
  Explanation explanation = Explanation::kNotJudged;
  std::string reason;  ///< kNotJudged: why
  /// In float64, on the tokens so far: the logits of both tokens, and how far rounding may move any.
  double exact_first = 0, exact_second = 0, explained = 0;
};

/// Of the tokens that the sides chose, by the logits, [vocabulary], that each chose its own by.
Parting parting_of(size_t prompt, size_t index, Side first, const Tensor& first_logits, Side second,
                   const Tensor& second_logits);

/// Says which is wrong, by what the model gives behind `tokens` in float64; where it cannot be evaluated, the
/// reason.
void judge(Parting& parting, const Tensor& first_logits, const Tensor& second_logits, const Tokens& tokens,
           const std::shared_ptr<const Model>& model, const InterfaceNames& names);

void write_parting(JsonWriter& json, const Parting& parting);

/// The largest difference of two rows of logits that are not equal.
double largest_difference(const Tensor& a, const Tensor& b);

}  // namespace assay::generate
