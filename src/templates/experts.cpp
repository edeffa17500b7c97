#include "templates/experts.h"

#include <fmt/core.h>

#include <cmath>

#include "templates/layers.h"

namespace assay {

Value* swiglu(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, int64_t inner) {
  const Init init = Init::lecun_normal(width);
  Value* gate = silu(b, s.child("act_fn"), product(b, s.child("gate_proj"), x, width, inner, init));
  Value* gated = b.node(s, "Mul", {gate, product(b, s.child("up_proj"), x, width, inner, init)});
  return product(b, s.child("down_proj"), gated, inner, width, Init::lecun_normal(inner));
}

Value* mixture_of_experts(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, int64_t inner,
                          int64_t experts) {
  constexpr int64_t kChosen = 2;
  Value* shape = b.node(s, "Shape", {x});
  Value* rows = reshape(b, s, x, {-1, width});
  const Scope router = s.child("gate");
  Value* scores = softmax(b, s, product(b, router, rows, width, experts, Init::lecun_normal(width)));
  const std::vector<Value*> top =
      b.node_with_outputs(s, "TopK", {scores, b.ints(s, {kChosen})}, {{"axis", int64_t{-1}}}, 2);
  Value* weights = b.node(s, "Div", {top[0], reduce(b, s, "ReduceSum", top[0], {-1})});
  // [experts, kChosen, tokens]: 1 where the expert is a token's first or second.
  Value* on = b.constant(s, Tensor::vector(std::vector<int64_t>{0, 1}));
  Value* one_hot =
      b.node(s, "OneHot", {top[1], b.constant(s, Tensor::scalar(experts)), on}, {{"axis", int64_t{-1}}});
  Value* mask = transpose(b, s, one_hot, {2, 1, 0});
  Value* sum = b.node(s, "ConstantOfShape", {b.node(s, "Shape", {rows})},
                      {{"value", UnalignedTensor(Tensor::vector(std::vector<float>{0}))}});
  for (int64_t e = 0; e < experts; ++e) {
    const Scope expert = s.child(fmt::format("experts.{}", e));
    Value* places = b.node(expert, "NonZero", {pick(b, expert, mask, 0, e)});  // [2, found]: rank, token
    const std::vector<Value*> parts = split(b, expert, places, 0, {1, 1});
    Value* token = reshape(b, expert, parts[1], {-1});
    Value* found = b.node(expert, "Gather", {rows, token}, {{"axis", int64_t{0}}});
    Value* result = swiglu(b, expert, found, width, inner);
    Value* pair = transpose(b, expert, concat(b, expert, {parts[1], parts[0]}, 0), {1, 0});
    Value* weight = unsqueeze(b, expert, b.node(expert, "GatherND", {weights, pair}), {1});
    Value* at = unsqueeze(b, expert, token, {1});
    sum = b.node(expert, "ScatterND", {sum, at, b.node(expert, "Mul", {result, weight})},
                 {{"reduction", std::string("add")}});
  }
  return b.node(s, "Reshape", {sum, shape});
}

}  // namespace assay
