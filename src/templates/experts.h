// Feed-forward networks of language models: SwiGLU, alone and as a mixture of experts.
#pragma once

#include "templates/builder.h"

namespace assay {

/// down(SiLU(gate(x)) * up(x)) over the last axis (Shazeer, "GLU Variants Improve Transformer", 2020).
Value* swiglu(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, int64_t inner);

/// Two of `experts` networks for each token of x [batch, tokens, width], chosen by TopK of a softmax, with
/// weighted results (Jiang et al., "Mixtral of Experts", 2024). As PyTorch exports Hugging Face's code: every
/// expert finds its tokens by NonZero, so that their number depends on the data, and adds its results by
/// ScatterND. From opset 16 on.
Value* mixture_of_experts(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, int64_t inner,
                          int64_t experts);

}  // namespace assay
