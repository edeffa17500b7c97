#include "convert/local_inference.h"

#include <deque>

#include "ops/check.h"
#include "ops/op_context.h"
#include "ops/op_set.h"

namespace assay {
namespace {

class LocalInference final : public InferContext {
 public:
  LocalInference(const Node& n, const OpDef& op, const OpVersion& v, ConstantFinder& constants)
      : InferContext(n, op, v), constants_(constants) {}

  const Type& input_type(size_t i) const override {
    static const Type kUnknown;
    return node().input(i) != nullptr ? node().input(i)->type : kUnknown;
  }
  const Tensor* input_value(size_t i) const override {
    std::optional<Tensor> t = constants_.value(node().input(i));
    return t ? &tensors_.emplace_back(std::move(*t)) : nullptr;
  }
  const Dims* input_extents(size_t i) const override {
    const Tensor* t = input_value(i);
    if (t == nullptr || t->rank() > 1 || !is_integer(t->dtype()) || t->numel() > kMaxExtents) return nullptr;
    Dims& extents = extents_.emplace_back();
    for (const int64_t x : t->to_int64()) extents.push_back(x < 0 ? Dim() : Dim(x));
    return &extents;
  }
  bool is_extent(const Dim&) const override { return false; }
  void set_output_type(size_t i, Type type) override {
    Value* v = node().output(i);
    if (v != nullptr && v->type.kind == Type::Kind::kUnknown) v->type = std::move(type);
  }
  void set_output_extents(size_t, Dims) override {}
  std::vector<Type> infer_subgraph(std::string_view attribute, const std::vector<Type>&,
                                   std::optional<Error>*) override {
    std::vector<Type> types;
    for (const Value* v : attr_graph(attribute).outputs) types.push_back(v->type);
    return types;
  }

 private:
  static constexpr int64_t kMaxExtents = 64;
  ConstantFinder& constants_;
  mutable std::deque<Tensor> tensors_;
  mutable std::deque<Dims> extents_;
};

}  // namespace

void check_rules(const Node& node, const OpDef& op, const OpVersion& version, ConstantFinder& constants) {
  if (version.infer == nullptr) return;
  LocalInference context(node, op, version, constants);
  version.infer(context);
}

void infer_node(Node& node, const OpSet& ops, int64_t opset, ConstantFinder& constants) {
  const OpDef* op = ops.find(node.domain, node.op_type);
  const OpVersion* version = op != nullptr ? version_for(*op, opset) : nullptr;
  if (version == nullptr || version->infer == nullptr) return;
  try {
    check_form(node, *op, *version);
    LocalInference context(node, *op, *version, constants);
    version->infer(context);
  } catch (const Error&) {
    // Errors caused by the model's own values are found by the checker.
  }
}

}  // namespace assay
