// Where two choose different tokens, and which of them float64 confirms.
#pragma once

#include <memory>

#include "assay/generate.h"

namespace assay {
class JsonWriter;
}

namespace assay::generate {

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
