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
/// To a shape of numbers, in which -1 and 0 have the operator's meaning.
Value* reshape(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& shape);
Value* transpose(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& permutation);
/// Over the last axis, where the operator's definitions before and since opset 13 agree.
Value* softmax(TemplateBuilder& b, const Scope& s, Value* x);

/// A reduction (ReduceMean, ReduceL2, ...) over the axes, which stay with extent 1 or go.
Value* reduce(TemplateBuilder& b, const Scope& s, std::string_view op_type, Value* x,
              const std::vector<int64_t>& axes, bool keep = true);
Value* reduce_mean(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<int64_t>& axes);

/// The extent of an axis as a vector of one, by Shape, Gather and Unsqueeze as PyTorch writes it.
Value* extent(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis);
/// To the shape whose parts are numbers and one-element vectors like those of extent().
Value* reshape_to(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<Value*>& parts);
/// Row i of an axis, which is dropped.
Value* pick(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis, int64_t i);
Value* concat(TemplateBuilder& b, const Scope& s, const std::vector<Value*>& parts, int64_t axis);
/// x * Sigmoid(x).
Value* silu(TemplateBuilder& b, const Scope& s, Value* x);

/// LayerNormalization from opset 17 on, its definition in simpler operators before.
Value* layer_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, float epsilon);
/// With existing weights.
Value* layer_norm(TemplateBuilder& b, const Scope& s, Value* x, Value* weight, Value* bias, float epsilon);
/// The exact form, by Erf. From opset 20 on both are the operator Gelu.
Value* gelu(TemplateBuilder& b, const Scope& s, Value* x);
/// The approximation by Tanh.
Value* gelu_tanh(TemplateBuilder& b, const Scope& s, Value* x);
/// MatMul with a weight [inputs, outputs] and Add of a bias, over the last axis.
Value* linear(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
              const Init& init);
/// linear() without a bias.
Value* product(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
               const Init& init);

struct Heads {
  int64_t count, width;
};
/// Attention over query, key and value of [batch, heads, sequence, width]: scores, scaled by the square root
/// of the width, with `bias` (may be null) added. Gives [batch, sequence, heads * width].
Value* attend(TemplateBuilder& b, const Scope& s, const Heads& heads, Value* query, Value* key, Value* value,
              Value* bias = nullptr);
/// [batch, sequence, heads * width] to [batch, heads, sequence, width].
Value* split_heads(TemplateBuilder& b, const Scope& s, Value* x, int64_t heads, int64_t width);
/// The reverse.
Value* merge_heads(TemplateBuilder& b, const Scope& s, Value* x, int64_t heads, int64_t width);

}  // namespace assay
