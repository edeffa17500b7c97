// Operations whose ONNX form depends on the opset, and the layers that language and vision transformers
// share.
#pragma once

#include <vector>

#include "templates/builder.h"

namespace assay {

/// Axes are an attribute before opset 13 and an input since.
Value* unsqueeze(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& axes);
/// In parts of the given extents.
std::vector<Value*> split(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis,
                          const std::vector<int64_t>& extents);
/// x[first:last] along one axis.
Value* slice(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis, int64_t first, int64_t last);
/// To a shape that is known but for -1 and 0, which mean what they do for the operator.
Value* reshape(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& shape);
Value* transpose(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& permutation);
/// Over the last axis, where the operator's definitions before and since opset 13 agree.
Value* softmax(TemplateBuilder& b, const Scope& s, Value* x);

/// LayerNormalization from opset 17 on, its definition in simpler operators before.
Value* layer_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, float epsilon);
/// The exact form, by Erf. From opset 20 on both are the operator Gelu.
Value* gelu(TemplateBuilder& b, const Scope& s, Value* x);
/// The approximation by Tanh.
Value* gelu_tanh(TemplateBuilder& b, const Scope& s, Value* x);
/// MatMul with a weight [inputs, outputs] and Add of a bias, over the last axis.
Value* linear(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
              const Init& init);
/// [batch, sequence, heads * width] to [batch, heads, sequence, width].
Value* split_heads(TemplateBuilder& b, const Scope& s, Value* x, int64_t heads, int64_t width);
/// The reverse.
Value* merge_heads(TemplateBuilder& b, const Scope& s, Value* x, int64_t heads, int64_t width);

}  // namespace assay
