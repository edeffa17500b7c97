#include "convert/convert_opset.h"

#include <fmt/format.h>

#include <algorithm>

#include "convert/converter.h"
#include "convert/upkeep.h"
#include "graph/distinct_names.h"
#include "graph/order.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "ops/op_set.h"

namespace assay {
namespace {

/// The import of the domain in a list; null when there is none.
OpsetImport* import_of(std::vector<OpsetImport>& imports, const std::string& domain) {
  for (OpsetImport& o : imports)
    if (plain_domain(o.domain) == domain) return &o;
  return nullptr;
}

/// The oldest IR version that every import needs.
int64_t ir_version_of_imports(const Model& model) {
  int64_t ir = 3;
  const auto add = [&](const std::vector<OpsetImport>& imports) {
    for (const OpsetImport& o : imports) ir = std::max(ir, ir_version_for(o.domain, o.version));
  };
  add(model.opsets);
  for (const Function& f : model.functions) add(f.opsets);
  return ir;
}

/// Up: at least what the imports need. Down: no more than imports and features need.
void set_ir_version(Model& model, bool is_down) {
  const int64_t imports = ir_version_of_imports(model);
  const int64_t wanted =
      is_down ? std::min(model.ir_version, ir_version_of_features(model)) : model.ir_version;
  model.ir_version = std::max(wanted, imports);
  // Initializers that are not inputs came with 4.
  if (model.ir_version < 4) model.ir_version = std::min<int64_t>(ir_version_of_features(model), 4);
}

void check_version(const OpSet& ops, const std::string& domain, int64_t version) {
  const int64_t newest = ops.newest_opset(domain);
  const std::string name = domain.empty() ? "ai.onnx" : domain;
  require(newest > 0, ErrorCode::kInvalidArgument, "no operator of the domain '{}' is known", name);
  require(version >= 1 && version <= newest, ErrorCode::kInvalidArgument,
          "{} is not an opset of {}: this build knows 1 to {}", version, name, newest);
}

}  // namespace

std::string ConvertProblem::str(int64_t wanted) const {
  return fmt::format("{}: {} has no equivalent in opset {}; the nearest that has it is {}.", node, reason,
                     wanted, nearest);
}

ConvertReport convert_opset(Model& model, const ConvertOptions& options) {
  const std::string domain = plain_domain(options.domain);
  const OpSet& ops = ops_of(model);
  check_version(ops, domain, options.version);
  check_depth(model);
  OpsetImport* import = import_of(model.opsets, domain);
  require(import != nullptr, ErrorCode::kInvalidArgument, "the model does not import the domain {}",
          domain.empty() ? "ai.onnx" : domain);
  ConvertReport report{.from = import->version, .old_ir_version = model.ir_version};
  require(report.from >= 1 && report.from <= ops.newest_opset(domain), ErrorCode::kUnsupported,
          "the model imports opset {} of {}, and this build knows 1 to {}", report.from,
          domain.empty() ? "ai.onnx" : domain, ops.newest_opset(domain));
  check_forms(model);
  DeclaredTypes declared(model);
  UnusedConstants unused(model);
  infer_shapes(model, {.on_problem = [](const Node&, const std::string&) {}});
  DistinctNames names(model);
  Converter converter(model, options, report);
  converter.graph(*model.graph, report.from);
  for (Function& f : model.functions) {
    OpsetImport* own = import_of(f.opsets, domain);
    if (own == nullptr) continue;
    converter.graph(*f.body, own->version);
    own->version = options.version;
  }
  import_of(model.opsets, domain)->version = options.version;
  declared.restore(model);
  unused.remove(model);
  names.settle(model);
  set_ir_version(model, options.version < report.from);
  return report;
}

}  // namespace assay
