#include "assay/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "assay/edit.h"
#include "assay/error.h"
#include "graph/clone.h"
#include "graph/function_index.h"
#include "graph/order.h"
#include "inspect/range_extractor.h"
#include "inspect/tactic_use.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

/// Maximum depth of function calls; inference and the engine have the same limit.
constexpr size_t kMaxCallDepth = 64;

/// Visits the nodes of a model, including called functions and subgraphs.
class Finder {
 public:
  using Problems = std::unordered_map<const Node*, std::string>;

  Finder(const Model& model, const Problems& problems)
      : model_(model), functions_(model), problems_(problems) {}

  std::vector<UnsupportedNode> run() {
    std::vector<UnsupportedNode> all;
    const Model opsets = scope_of(model_, model_.opsets);
    const auto& nodes = model_.graph->nodes();
    for (size_t i = 0; i < nodes.size(); ++i)
      for (UnsupportedNode& u : look(*nodes[i], opsets)) {
        u.index = i;
        all.push_back(std::move(u));
      }
    return all;
  }

 private:
  std::vector<UnsupportedNode> look(const Node& n, const Model& opsets) {
    if (const Function* f = functions_.called(n)) return look_into_call(n, *f);
    std::vector<UnsupportedNode> found;
    if (std::string reason = problem(n, opsets); !reason.empty())
      found.push_back({.op = n.op_type, .name = n.name, .reason = std::move(reason)});
    for (const Attribute& a : n.attributes) {
      if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) append(found, look(**g, opsets));
      if (const auto* graphs = a.get_if<Attribute::Graphs>())
        for (const auto& g : *graphs) append(found, look(*g, opsets));
    }
    return found;
  }

  std::vector<UnsupportedNode> look(const Graph& g, const Model& opsets) {
    std::vector<UnsupportedNode> found;
    for (const auto& n : g.nodes()) append(found, look(*n, opsets));
    return found;
  }

  std::vector<UnsupportedNode> look_into_call(const Node& n, const Function& f) {
    std::vector<UnsupportedNode> found;
    if (std::find(open_.begin(), open_.end(), &f) != open_.end() || open_.size() >= kMaxCallDepth) {
      found.push_back(
          {.op = n.op_type, .name = n.name, .reason = "local functions call each other without end"});
    } else if (const auto it = known_.find(&f); it != known_.end()) {
      found = it->second;
    } else {
      open_.push_back(&f);
      found = look(*f.body, scope_of(model_, f.opsets));
      open_.pop_back();
      known_.emplace(&f, found);
    }
    for (UnsupportedNode& u : found) u.stack.insert(u.stack.begin(), fmt::format("{} ({})", n.name, f.name));
    return found;
  }

  static void append(std::vector<UnsupportedNode>& list, std::vector<UnsupportedNode> more) {
    for (UnsupportedNode& u : more) list.push_back(std::move(u));
  }

  std::string problem(const Node& n, const Model& opsets) const {
    try {
      const BoundOp op = require_op(n, opsets);
      check_node(n, *op.op, *op.version);
    } catch (const Error& e) {
      return e.what();
    }
    const auto it = problems_.find(&n);
    return it != problems_.end() ? it->second : std::string();
  }

  const Model& model_;
  const FunctionIndex functions_;
  const Problems& problems_;
  std::vector<const Function*> open_;
  std::unordered_map<const Function*, std::vector<UnsupportedNode>> known_;
};

}  // namespace

std::vector<UnsupportedNode> find_unsupported(Model& model) {
  Finder::Problems problems;
  infer_shapes(
      model, {.on_problem = [&](const Node& n, const std::string& reason) { problems.emplace(&n, reason); }});
  return Finder(model, problems).run();
}

std::vector<NodeRange> partition(const Model& model, const std::vector<UnsupportedNode>& unsupported) {
  std::vector<bool> is_supported(model.graph->nodes().size(), true);
  for (const UnsupportedNode& u : unsupported) is_supported[u.index] = false;
  std::vector<NodeRange> ranges;
  for (size_t i = 0; i < is_supported.size(); ++i) {
    if (ranges.empty() || ranges.back().is_supported != is_supported[i])
      ranges.push_back(
          {.begin = i, .end = i, .is_supported = is_supported[i], .op = model.graph->nodes()[i]->op_type});
    ranges.back().end = i + 1;
  }
  return ranges;
}

namespace {

/// Plans a range. The whole model is planned with its own outputs.
RangeCapability plan_range(const std::shared_ptr<Model>& model, const RangeExtractor& ranges,
                           NodeRange range) {
  RangeCapability result{.nodes = range};
  const bool is_whole = range.end - range.begin == model->graph->nodes().size();
  const std::shared_ptr<Model> part = is_whole ? model : ranges.extract(range);
  std::vector<Shape> shapes;
  for (const Value* v : part->graph->inputs) {
    const auto shape = v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt;
    if (!shape && v->type.is_tensor()) {
      result.open_input = v->name();
      return result;
    }
    shapes.push_back(shape.value_or(Shape()));
  }
  try {
    result.use = tactic_use(*part, plan_tactics(*part, shapes), range.begin);
  } catch (const Error& e) {
    result.problem = e.what();
  }
  return result;
}

}  // namespace

Capability capability(Model& model, const ModelToPlan& to_plan) {
  Capability result{.unsupported = find_unsupported(model), .ranges = {}};
  const std::vector<NodeRange> ranges = partition(model, result.unsupported);
  const std::shared_ptr<Model> planned =
      to_plan ? to_plan(model) : std::shared_ptr<Model>(std::shared_ptr<void>(), &model);
  const RangeExtractor extractor(*planned);
  for (const NodeRange& range : ranges)
    result.ranges.push_back(range.is_supported ? plan_range(planned, extractor, range)
                                               : RangeCapability{.nodes = range});
  return result;
}

bool Capability::is_planned() const {
  return std::all_of(ranges.begin(), ranges.end(),
                     [](const RangeCapability& r) { return r.problem.empty(); });
}

}  // namespace assay
