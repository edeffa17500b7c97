#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "convert/convert_opset.h"

namespace assay {
namespace {

constexpr int64_t kOldestIrVersion = 3;
/// The maximum number of listed reasons for a newer version.
constexpr size_t kMaxNeeds = 5;

/// IR versions and the newest versions of domains released with them, from ONNX's release table.
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

/// Called with each feature and the IR version that introduced it.
using Found = std::function<void(int64_t ir, const std::function<std::string()>& what)>;

void scan(const Graph& g, const Found& found);

void scan(const Node& n, const Found& found) {
  const auto part = [&](const char* what) { return fmt::format("{} of node {}", what, n.label()); };
  if (!n.overload.empty()) found(10, [&] { return part("the overload"); });
  if (!n.metadata.empty()) found(10, [&] { return part("the metadata"); });
  for (const Attribute& a : n.attributes) {
    const auto type = [&] { return part("the element type of an attribute"); };
    if (const auto* t = a.get_if<UnalignedTensor>()) found(ir_of(t->dtype()), type);
    if (const auto* t = a.get_if<Type>()) found(ir_of(*t), type);
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) scan(**g, found);
    if (const auto* graphs = a.get_if<Attribute::Graphs>())
      for (const auto& g : *graphs) scan(*g, found);
  }
}

void scan(const Graph& g, const Found& found) {
  if (!g.metadata.empty()) found(10, [&] { return fmt::format("the metadata of graph '{}'", g.name); });
  for (const auto& v : g.values()) {
    found(ir_of(v->type), [&] { return fmt::format("the type of '{}', {}", v->name(), v->type.str()); });
    if (!v->metadata.empty()) found(10, [&] { return fmt::format("the metadata of '{}'", v->name()); });
    // Before, every initializer was an input, too.
    if (v->is_constant() && !v->is_overridable)
      found(4, [&] { return fmt::format("the initializer '{}', which is no input", v->name()); });
  }
  for (const auto& n : g.nodes()) scan(*n, found);
}

void scan(const Model& model, const Found& found) {
  scan(*model.graph, found);
  for (const Function& f : model.functions) {
    const auto part = [&](const char* what) { return fmt::format("{}function '{}'", what, f.name); };
    found(8, [&] { return part("the "); });
    scan(*f.body, found);
    if (!f.attribute_defaults.empty()) found(9, [&] { return part("the defaults of attributes of "); });
    if (!f.overload.empty()) found(10, [&] { return part("the overload of "); });
    if (!f.metadata.empty()) found(10, [&] { return part("the metadata of "); });
  }
}

}  // namespace

int64_t ir_version_for(std::string_view domain, int64_t version) {
  if (domain != "" && domain != "ai.onnx" && domain != "ai.onnx.ml") return 0;
  for (const Release& r : kReleases)
    if (version <= (domain == "ai.onnx.ml" ? r.ml : r.onnx)) return r.ir;
  return std::end(kReleases)[-1].ir;
}

int64_t ir_version_of_features(const Model& model) {
  int64_t ir = kOldestIrVersion;
  scan(model, [&](int64_t needed, const auto&) { ir = std::max(ir, needed); });
  return ir;
}

void change_ir_version(Model& model, int64_t version) {
  const int64_t newest = std::end(kReleases)[-1].ir;
  require(version >= kOldestIrVersion && version <= newest, ErrorCode::kInvalidArgument,
          "{} is not an IR version that this build writes: they go from {} to {}", version, kOldestIrVersion,
          newest);
  int64_t least = version;
  std::string needs;
  size_t count = 0;
  scan(model, [&](int64_t needed, const std::function<std::string()>& what) {
    least = std::max(least, needed);
    if (needed <= version || ++count > kMaxNeeds) return;
    needs += fmt::format("{}{} (IR version {})", needs.empty() ? "" : "; ", what(), needed);
  });
  if (least > version) {
    if (count > kMaxNeeds) needs += fmt::format("; and {} more", count - kMaxNeeds);
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("IR version {} cannot say everything in the model: {}", version, needs));
    throw e.set_remedy(fmt::format("The oldest that can is {}.", least));
  }
  model.ir_version = version;
}

}  // namespace assay
