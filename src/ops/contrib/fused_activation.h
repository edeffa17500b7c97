// The activation function that a fused operator applies to its result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/numerics/steps.h"

namespace assay {

/// Parameters of an activation: its alpha, beta, gamma, or for Clip lowest and highest.
using ActivationParameters = std::vector<double>;

/// The activation `name` ("" for none) of x. Parameters that are left out have the defaults of the standard's
/// operator. Throws Error for a name that is not known.
Traced activate(Steps& steps, const Traced& x, const std::string& name,
                const ActivationParameters& parameters);
/// FusedGemm's alpha, beta and gamma as far as they are given, in this order.
ActivationParameters fused_gemm_parameters(const OpContext& c);
/// Whether it is the name of one.
bool is_activation(std::string_view name);
/// Throws Error for a name that is not known.
void check_activation(const std::string& name);

}  // namespace assay
