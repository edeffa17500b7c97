// Pointwise operators that feed each other become one region, computed tile by tile without storing what lies
// between.
#include <algorithm>
#include <unordered_set>

#include "passes/match.h"
#include "passes/pass_list.h"
#include "passes/pointwise_form.h"
#include "passes/region.h"

namespace assay {
namespace {

constexpr size_t kMaxNodes = 24;
constexpr size_t kMaxOperands = 12;

struct Growth {
  std::unordered_set<const Node*> nodes;
  std::vector<const Node*> list;  // of the same nodes, as they joined
  std::unordered_set<const Value*> operands;
};

size_t operand_count(const Growth& g) {
  size_t count = 0;
  for (const Value* v : g.operands) count += v->producer() == nullptr || !g.nodes.contains(v->producer());
  return count;
}

void include(Growth& g, const Node& n) {
  g.nodes.insert(&n);
  g.list.push_back(&n);
  const PointwiseForm form = pointwise_form(n).value();
  g.operands.insert(form.operands.begin(), form.operands.end());
}

/// A producer may join when nothing outside needs its result and it covers the same domain.
bool may_join(const Growth& g, const Value* v, const Shape& domain, const PassContext& context) {
  const Node* p = v->producer();
  if (p == nullptr || g.nodes.contains(p) || context.is_pinned(v) || &p->graph() != context.model.graph.get())
    return false;
  if (context.is_widely_used(v) || shape_of(v) != domain || !pointwise_form(*p)) return false;
  return std::all_of(v->consumers().begin(), v->consumers().end(),
                     [&](const Node* c) { return g.nodes.contains(c); });
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const std::optional<Shape> domain = shape_of(n.output(0));
  if (!domain || !pointwise_form(n)) return std::nullopt;
  // Begin at the end of a chain.
  const Node* user = context.sole_consumer(n.output(0));
  if (user != nullptr && pointwise_form(*user) && shape_of(user->output(0)) == domain) return std::nullopt;
  Growth growth;
  include(growth, n);
  for (bool grown = true; grown && growth.nodes.size() < kMaxNodes;) {
    grown = false;
    const std::vector<const Value*> operands(growth.operands.begin(), growth.operands.end());
    for (const Value* v : operands) {
      if (growth.nodes.size() >= kMaxNodes || !may_join(growth, v, *domain, context)) continue;
      Growth larger = growth;
      include(larger, *v->producer());
      if (operand_count(larger) > kMaxOperands) continue;
      growth = std::move(larger);
      grown = true;
    }
  }
  if (growth.nodes.size() == 1) return std::nullopt;
  return make_region(kPointwise, in_order(growth.list), context);
}

}  // namespace

constinit const PassDef pass_fuse_pointwise = {
    .name = "fuse_pointwise",
    .summary = "pointwise operators that feed each other become one",
    .match = match,
};

}  // namespace assay
