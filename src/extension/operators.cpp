// Operators of modules as OpDefs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "assay/count.h"
#include "base/crash_report.h"
#include "extension/extension.h"
#include "extension/host.h"

namespace assay::extension {
namespace {

/// The definition, and additional data of its functions.
struct ModuleOp : OpDef {
  const Extension* extension = nullptr;
  AssayOperator module{};
  AssayOperatorFacts module_facts{};
  std::vector<AssayOperatorVersion> module_versions;
  std::vector<OpVersion> list;
};

const ModuleOp& op_of(const OpContext& c) { return static_cast<const ModuleOp&>(c.op()); }
const AssayOperatorVersion& version_of(const OpContext& c) {
  const ModuleOp& op = op_of(c);
  return op.module_versions[static_cast<size_t>(&c.version() - op.list.data())];
}

void infer(InferContext& c) {
  const ModuleOp& op = op_of(c);
  AssayInfer handle{c};
  const Defaults defaults(c);
  op.extension->call("inferred types", [&] { return version_of(c).infer(op.module.self, &handle); });
}

void eval(EvalContext& c) {
  const ModuleOp& op = op_of(c);
  AssayEval handle{c, {}};
  handle.outputs.numbered.resize(c.output_count());
  const Defaults defaults(c);
  op.extension->call("evaluated an operator", [&] { return version_of(c).eval(op.module.self, &handle); });
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (!c.wants_output(i)) continue;
    Tensor& t = handle.outputs.numbered[i];
    if (!t.defined())
      op.extension->refuse("evaluated an operator",
                           fmt::format("{}.{} gave nothing for output {}", op.domain, op.name, i));
    c.set_output(i, std::move(t));
  }
}

int64_t terms(EvalContext& c) {
  const ModuleOp& op = op_of(c);
  AssayEval handle{c, {}};
  const Defaults defaults(c);
  int64_t count = 0;
  op.extension->call("counted terms", [&] {
    count = op.module.terms(op.module.self, &handle);
    return count < 0 ? -1 : 0;
  });
  return count;
}

Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  const ModuleOp& op = op_of(c);
  AssayEval handle{c, {}};
  const Defaults defaults(c);
  Tensor result = Tensor::zeros(DType::kFloat64, y.shape());
  op.extension->call("bounded an error", [&] {
    const AssayTensor exact = CallScope::view(y);
    return op.module.bound(op.module.self, &handle, u, i, &exact, result.mutable_data<double>());
  });
  const auto is_bound = [](double b) { return b >= 0; };
  const auto elements = result.span<double>();
  if (!std::all_of(elements.begin(), elements.end(), is_bound))
    op.extension->refuse("bounded an error",
                         fmt::format("{}.{} gave a bound that is negative or no number", op.domain, op.name));
  return result;
}

Numerics numerics_of(const AssayOperator& o) {
  Numerics n;
  n.ulps = o.ulps;
  switch (o.error) {
    case ASSAY_EXACT:
      n.kind = Numerics::Kind::kExact;
      break;
    case ASSAY_ELEMENTWISE:
      n.kind = Numerics::Kind::kElementwise;
      break;
    case ASSAY_ACCUMULATING:
      n.kind = Numerics::Kind::kAccumulating;
      n.terms = terms;
      break;
    default:
      n.kind = Numerics::Kind::kCustom;
      n.bound = bound;
  }
  return n;
}

/// Unknown numbers and errors count as unknown: nothing is computed from them.
Count multiply_accumulates(const Node& n, const OpDef& definition) {
  const auto& op = static_cast<const ModuleOp&>(definition);
  if (op.module_facts.multiply_accumulates == nullptr) return Count::unknown();
  int64_t count = ASSAY_UNKNOWN;
  op.extension->call("counted multiply-accumulates", [&] {
    count = op.module_facts.multiply_accumulates(op.module.self, reinterpret_cast<const AssayNode*>(&n));
    return 0;
  });
  return count >= 0 ? Count(count) : Count::unknown();
}

std::string_view text_of(const char* text) { return text != nullptr ? text : ""; }

OpFacts facts_of(const AssayOperatorFacts& f) {
  const auto has = [&](uint64_t flag) { return (f.flags & flag) != 0; };
  OpFacts facts;
  facts.moves = static_cast<Moves>(f.moves);
  facts.elementwise = static_cast<uint8_t>(f.elementwise);
  if (f.instruction != nullptr)
    facts.pointwise = {.op = kernels::find_pointwise(f.instruction),
                       .parameters = {text_of(f.parameter_a), text_of(f.parameter_b)}};
  facts.sign = static_cast<SignOfResult>(f.sign);
  facts.size_input = static_cast<int8_t>(f.size_input - 1);
  facts.commutative = has(ASSAY_COMMUTATIVE);
  facts.idempotent = has(ASSAY_IDEMPOTENT);
  facts.gives_whole = has(ASSAY_GIVES_WHOLE);
  facts.jumps = has(ASSAY_JUMPS);
  facts.commutes_with_cast = has(ASSAY_COMMUTES_WITH_CAST);
  facts.is_total = has(ASSAY_TOTAL);
  facts.recodes = has(ASSAY_RECODES);
  facts.mixes_axis = has(ASSAY_MIXES_AXIS);
  facts.may_grow = has(ASSAY_MAY_GROW);
  facts.multiply_accumulates = multiply_accumulates;
  return facts;
}

}  // namespace

void add_operators(const std::shared_ptr<Extension>& extension, OpSet& ops) {
  for (const AssayOperator& o : extension->operators()) {
    auto op = std::make_shared<ModuleOp>();
    op->domain = o.domain;
    op->name = o.name;
    op->numerics = numerics_of(o);
    op->types = o.as_stored != 0 ? EvalTypes::kAsStored : EvalTypes::kFloat64;
    op->random = o.random != 0;
    if (o.facts != nullptr)
      std::memcpy(&op->module_facts, o.facts, std::min<uint64_t>(o.facts->size, sizeof op->module_facts));
    op->facts = facts_of(op->module_facts);
    op->extension = extension.get();
    op->module = o;
    for (uint64_t i = 0; i < o.version_count; ++i) {
      AssayOperatorVersion v{};
      std::memcpy(&v, o.versions[i], std::min<uint64_t>(o.versions[i]->size, sizeof v));
      op->module_versions.push_back(v);
      op->list.push_back({static_cast<int>(v.since), v.schema, infer, v.eval != nullptr ? eval : nullptr});
    }
    op->versions = op->list;
    ops.add(*op, std::make_shared<std::pair<std::shared_ptr<Extension>, std::shared_ptr<ModuleOp>>>(extension,
                                                                                                    op));
  }
}

}  // namespace assay::extension
