#include <algorithm>
#include <span>

#include "convert/convert_opset.h"

namespace assay {
namespace {

/// IR versions and the newest versions of the domains that came with them, from ONNX's release table.
struct Release {
  int64_t ir, onnx, ml;
};
constexpr Release kReleases[] = {{3, 8, 1},  {4, 9, 1},   {5, 10, 1},  {6, 11, 2},  {7, 14, 2},  {8, 18, 3},
                                 {9, 20, 4}, {10, 22, 5}, {11, 23, 5}, {12, 24, 5}, {13, 27, 5}, {14, 28, 5}};

int64_t ir_of(DType t) {
  if (t == DType::kFloat6E2M3 || t == DType::kFloat6E3M2) return 14;
  if (t >= DType::kUInt2 && t <= DType::kInt2) return 13;
  if (t == DType::kFloat8E8M0) return 12;
  if (t == DType::kFloat4E2M1) return 11;
  if (t == DType::kUInt4 || t == DType::kInt4) return 10;
  if (t >= DType::kFloat8E4M3FN && t <= DType::kFloat8E5M2FNUZ) return 9;
  return 3;
}

int64_t ir_of(const Type& t) {
  const int64_t own = t.kind == Type::Kind::kOptional ? 8 : t.is_tensor() ? ir_of(t.dtype) : 3;
  return t.element ? std::max(own, ir_of(*t.element)) : own;
}

int64_t ir_of(const Graph& g);

int64_t ir_of(const Node& n) {
  int64_t ir = n.overload.empty() && n.metadata.empty() ? 3 : 10;
  for (const Attribute& a : n.attributes) {
    if (const auto* t = a.get_if<UnalignedTensor>()) ir = std::max(ir, ir_of(t->dtype()));
    if (const auto* t = a.get_if<Type>()) ir = std::max(ir, ir_of(*t));
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) ir = std::max(ir, ir_of(**g));
    if (const auto* graphs = a.get_if<Attribute::Graphs>())
      for (const auto& g : *graphs) ir = std::max(ir, ir_of(*g));
  }
  return ir;
}

int64_t ir_of(const Graph& g) {
  int64_t ir = g.metadata.empty() ? 3 : 10;
  for (const auto& v : g.values()) {
    ir = std::max({ir, ir_of(v->type), v->metadata.empty() ? int64_t{3} : 10});
    // Before, every initializer was an input, too.
    if (v->is_constant() && !v->is_overridable) ir = std::max<int64_t>(ir, 4);
  }
  for (const auto& n : g.nodes()) ir = std::max(ir, ir_of(*n));
  return ir;
}

}  // namespace

int64_t ir_version_for(std::string_view domain, int64_t version) {
  if (domain != "" && domain != "ai.onnx" && domain != "ai.onnx.ml") return 0;
  for (const Release& r : kReleases)
    if (version <= (domain == "ai.onnx.ml" ? r.ml : r.onnx)) return r.ir;
  return std::end(kReleases)[-1].ir;
}

int64_t ir_version_of_features(const Model& model) {
  int64_t ir = std::max<int64_t>(ir_of(*model.graph), model.functions.empty() ? 3 : 8);
  for (const Function& f : model.functions) {
    ir = std::max(ir, ir_of(*f.body));
    if (!f.attribute_defaults.empty()) ir = std::max<int64_t>(ir, 9);
    if (!f.overload.empty() || !f.metadata.empty()) ir = std::max<int64_t>(ir, 10);
  }
  return ir;
}

}  // namespace assay
