#include "engine/planner/clusters.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/averages.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "engine/tactics/attention/attention_form.h"
#include "passes/patch.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

/// More steps than any network's layer has; keeps the kernels' argument lists short.
constexpr size_t kMaxSteps = 6;
/// Pointwise regions are as large as one kernel's program and argument list.
constexpr size_t kMaxNodes = 24;
constexpr size_t kMaxOperands = 12;

/// How an operand may meet a result of shape `out`: whole, one number, or one number per channel of a
/// convolution or per column of a product.
bool operand_fits(const Value* operand, const Shape& out, bool conv) {
  const std::optional<Shape> shape = shape_of(operand);
  if (!shape || shape->rank() > out.rank()) return false;
  if (*shape == out || shape->numel() == 1) return true;
  const size_t axis = conv ? 1 : out.size() - 1;
  const size_t skipped = out.size() - shape->size();
  for (size_t d = 0; d < shape->size(); ++d) {
    const int64_t wanted = d + skipped == axis ? out[axis] : 1;
    if ((*shape)[d] != wanted) return false;
  }
  return skipped <= axis;
}

class Finder {
 public:
  explicit Finder(const Model& model) : context_(model), graph_(*model.graph) {
    for (const auto& n : graph_.nodes()) position_[n.get()] = position_.size();
  }

  std::vector<Cluster> run() {
    for (const auto& n : graph_.nodes())
      if (n->op_type == "Softmax") add_attention(*n);
    std::vector<const Node*> nodes;
    for (const auto& n : graph_.nodes()) nodes.push_back(n.get());
    add_clusters(nodes);
    return std::move(clusters_);
  }

 private:
  bool is_free(const Node* n) const {
    return !claimed_.contains(n) && (within_ == nullptr || within_->contains(n));
  }

  /// Of nodes in topological order: those that are free.
  void add_clusters(const std::vector<const Node*>& nodes) {
    for (const Node* n : nodes)
      if (is_free(n) && is_main_operator(*n, context_.model) &&
          (is_integer_product(*n, context_.model) || dtype_of(n->output(0)) == DType::kFloat32))
        add_product(*n);
    for (const Node* n : nodes)
      if (is_free(n) && (averages_pixels(*n, context_.model) || interpolates_pixels(*n))) add_average(*n);
    // From the back: a chain is found at its end.
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (is_free(*it)) add_pointwise(**it);
    for (const Node* n : nodes)
      if (is_free(n)) add({{node_region(*n)}});
    const auto last = [&](const Cluster& c) { return position_.at(c.partitions[0].back().nodes.back()); };
    std::sort(clusters_.begin(), clusters_.end(),
              [&](const Cluster& a, const Cluster& b) { return last(a) < last(b); });
  }

  /// As one region, or as the clusters that its nodes would be by themselves.
  void add_attention(const Node& softmax) {
    std::optional<AttentionForm> form = find_attention(
        softmax, context_, [&](const Node& n) { return &n.graph() == &graph_ && is_free(&n); });
    if (!form) return;
    std::vector<const Node*> nodes = form->nodes;
    std::sort(nodes.begin(), nodes.end(),
              [&](const Node* a, const Node* b) { return position_.at(a) < position_.at(b); });
    Region whole{.kind = RegionKind::kAttention, .nodes = nodes, .main = &softmax};
    whole.attention = std::make_shared<const AttentionForm>(*std::move(form));
    const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
    std::vector<Cluster> others = std::exchange(clusters_, {});
    within_ = &inside;
    add_clusters(nodes);
    within_ = nullptr;
    size_t most = 0;
    for (const Cluster& c : clusters_) most = std::max(most, c.partitions.size());
    Cluster cluster{{{std::move(whole)}}};
    for (size_t i = 0; i < most; ++i) {
      auto& partition = cluster.partitions.emplace_back();
      for (const Cluster& c : clusters_) {
        const std::vector<Region>& regions = c.partitions[std::min(i, c.partitions.size() - 1)];
        partition.insert(partition.end(), regions.begin(), regions.end());
      }
    }
    clusters_ = std::move(others);
    clusters_.push_back(std::move(cluster));
  }

  void add(std::vector<std::vector<Region>> partitions) {
    for (const Region& r : partitions.back()) claimed_.insert(r.nodes.begin(), r.nodes.end());
    clusters_.push_back({std::move(partitions)});
  }

  /// Transpositions of up to four dimensions that a strided matrix product can read or write.
  const Node* foldable_transpose(const Value* v, const Node& user) const {
    const Node* n = producer_of(v, "Transpose");
    if (n == nullptr || !is_free(n) || context_.sole_consumer(v) != &user ||
        constant_of(n->input(0)) != nullptr)
      return nullptr;
    const std::optional<Shape> shape = shape_of(v);
    return shape && shape->rank() >= 2 && shape->rank() <= 4 ? n : nullptr;
  }

  static bool has_channels(const Node& main) {
    return is_op(main, "Conv") || is_op(main, "ConvTranspose") || is_op(main, "ConvInteger");
  }

  /// How an integer product's sums become float32; left empty where they do not at once.
  void read_sums_to_float(const Node& main, const Shape& out, Region& whole) const {
    std::vector<const Node*> nodes;
    const Value* addend = nullptr;
    const Value* running = main.output(0);
    while (nodes.size() < 2) {
      const Node* next = context_.sole_consumer(running);
      if (next == nullptr || !is_free(next) || shape_of(next->output(0)) != out) return;
      nodes.push_back(next);
      if (is_op(*next, "Cast") && dtype_of(next->output(0)) == DType::kFloat32) break;
      if (!is_op(*next, "Add") || next->input(0) == next->input(1)) return;
      addend = next->input(next->input(0) == running ? 1 : 0);
      const std::optional<Shape> shape = shape_of(addend);
      const int64_t columns = has_channels(main) ? out[1] : out[out.size() - 1];
      if (!shape || shape->numel() != columns || !operand_fits(addend, out, has_channels(main))) return;
      running = next->output(0);
    }
    if (!is_op(*nodes.back(), "Cast")) return;
    whole.sums_to_float = std::move(nodes);
    whole.sums_addend = addend;
  }

  /// What follows a product's result and can be done with it.
  std::vector<EpilogueStep> following(const Node& main, const Value* running, const Shape& out) const {
    std::vector<EpilogueStep> steps;
    const bool conv = has_channels(main);
    while (steps.size() < kMaxSteps) {
      const Node* next = context_.sole_consumer(running);
      if (next == nullptr || !is_free(next)) break;
      std::optional<EpilogueStep> step = epilogue_step(*next, running, context_.model);
      if (!step || shape_of(next->output(0)) != out) break;
      if (step->operand != nullptr && !operand_fits(step->operand, out, conv)) break;
      running = next->output(0);
      steps.push_back(std::move(*step));
    }
    return steps;
  }

  /// A function of the 8 bits that an epilogue ends with, of the same type; null when there is none.
  const Node* following_lookup(const std::vector<EpilogueStep>& epilogue) const {
    if (epilogue.empty() || !is_op(*epilogue.back().node, "QuantizeLinear")) return nullptr;
    const Value* v = epilogue.back().node->output(0);
    const Node* next = context_.sole_consumer(v);
    const bool follows = next != nullptr && is_region(*next, kLookup) && is_free(next);
    return follows && dtype_of(next->output(0)) == dtype_of(v) ? next : nullptr;
  }

  /// A transposition of a matrix product's result, of up to four dimensions; null when there is none.
  const Node* following_transpose(const Node& matmul, const std::vector<EpilogueStep>& epilogue,
                                  const Shape& out) const {
    const Node* last =
        context_.sole_consumer(epilogue.empty() ? matmul.output(0) : epilogue.back().node->output(0));
    return last != nullptr && is_op(*last, "Transpose") && is_free(last) && out.rank() <= 4 ? last : nullptr;
  }

  /// A product with all around it that its kernel may do; nothing where its integers do not become float32.
  std::optional<Region> widest_product(const Node& n, const Shape& out) const {
    Region whole{.kind = RegionKind::kFused, .nodes = {}, .main = &n};
    if (is_op(n, "MatMul"))
      for (size_t i = 0; i < 2; ++i) whole.transposed[i] = foldable_transpose(n.input(i), n);
    const Value* result = n.output(0);
    if (is_integer_product(n, context_.model)) {
      read_sums_to_float(n, out, whole);
      if (whole.sums_to_float.empty()) return std::nullopt;
      result = whole.sums_to_float.back()->output(0);
    }
    whole.epilogue = following(n, result, out);
    if (whole.sums_to_float.empty()) whole.lookup = following_lookup(whole.epilogue);
    if (is_op(n, "MatMul")) whole.result_transposed = following_transpose(n, whole.epilogue, out);
    return whole;
  }

  /// An average of dequantized pixels, or a linear interpolation, with the QuantizeLinear of its result.
  void add_average(const Node& n) {
    const Node* next = context_.sole_consumer(n.output(0));
    if (next == nullptr || !is_free(next) || !is_op(*next, "QuantizeLinear") || !quantization_of(n.input(0)))
      return;
    std::optional<EpilogueStep> step = epilogue_step(*next, n.output(0), context_.model);
    if (!step || !read_quantization(*next)) return;
    Region whole{.kind = RegionKind::kFused, .nodes = {&n, next}, .main = &n};
    whole.epilogue.push_back(*std::move(step));
    add({{std::move(whole)}, {node_region(n), node_region(*next)}});
  }

  void add_product(const Node& n) {
    const std::optional<Shape> out = shape_of(n.output(0));
    if (!out || out->rank() < 2) return;
    if (const std::optional<Region> whole = widest_product(n, *out)) add(partitions_of(*whole));
  }

  /// From the widest region to its nodes one by one.
  std::vector<std::vector<Region>> partitions_of(const Region& whole) const {
    std::vector<std::vector<Region>> partitions;
    const auto add_partition = [&](bool with_inputs, size_t steps, bool with_result) {
      partitions.push_back(cut(whole, with_inputs, steps, with_result));
    };
    const size_t steps = whole.epilogue.size();
    const bool inputs = whole.transposed[0] != nullptr || whole.transposed[1] != nullptr;
    if (whole.result_transposed != nullptr || whole.lookup != nullptr) add_partition(true, steps, true);
    for (size_t k = steps + 1; k-- > 0;) add_partition(true, k, false);
    if (inputs && (whole.result_transposed != nullptr || whole.lookup != nullptr))
      add_partition(false, steps, true);
    if (inputs) add_partition(false, steps, false);
    if (!whole.sums_to_float.empty()) add_sums_apart(whole, partitions);
    std::vector<Region> alone;
    for (const Region& r : partitions[0])
      for (const Node* node : r.nodes) alone.push_back(node_region(*node));
    if (alone.size() > 1 && partitions.back().size() < alone.size()) partitions.push_back(std::move(alone));
    return partitions;
  }

  /// The product by itself, and all that follows as one.
  static void add_sums_apart(const Region& whole, std::vector<std::vector<Region>>& partitions) {
    std::vector<const Node*> rest = whole.sums_to_float;
    for (const EpilogueStep& s : whole.epilogue) rest.push_back(s.node);
    partitions.push_back({node_region(*whole.main)});
    partitions.back().push_back(rest.size() == 1 ? node_region(*rest[0]) : pointwise_region(std::move(rest)));
  }

  /// The product with some of what surrounds it; the rest runs before or after it.
  std::vector<Region> cut(const Region& whole, bool with_inputs, size_t steps, bool with_result) const {
    std::vector<Region> regions;
    Region product{.kind = RegionKind::kFused, .nodes = {}, .main = whole.main};
    for (size_t i = 0; i < 2; ++i) {
      const Node* t = whole.transposed[i];
      if (t == nullptr || (i == 1 && t == whole.transposed[0])) continue;
      if (with_inputs)
        product.nodes.push_back(t);
      else
        regions.push_back(node_region(*t));
    }
    if (with_inputs) std::copy(std::begin(whole.transposed), std::end(whole.transposed), product.transposed);
    const auto by_position = [&](const Node* a, const Node* b) { return position_.at(a) < position_.at(b); };
    std::sort(product.nodes.begin(), product.nodes.end(), by_position);
    product.nodes.push_back(whole.main);
    product.nodes.insert(product.nodes.end(), whole.sums_to_float.begin(), whole.sums_to_float.end());
    product.sums_to_float = whole.sums_to_float;
    product.sums_addend = whole.sums_addend;
    std::vector<const Node*> rest;
    for (size_t i = 0; i < whole.epilogue.size(); ++i) {
      if (i >= steps) {
        rest.push_back(whole.epilogue[i].node);
        continue;
      }
      product.epilogue.push_back(whole.epilogue[i]);
      product.nodes.push_back(whole.epilogue[i].node);
    }
    const Node* const end = whole.lookup != nullptr ? whole.lookup : whole.result_transposed;
    if (with_result) {
      product.lookup = whole.lookup;
      product.result_transposed = whole.result_transposed;
      product.nodes.push_back(end);
    }
    if (product.nodes.size() == 1) product = node_region(*whole.main);
    regions.push_back(std::move(product));
    if (rest.size() == 1) regions.push_back(node_region(*rest[0]));
    if (rest.size() > 1) regions.push_back(pointwise_region(std::move(rest)));
    if (!with_result && end != nullptr) regions.push_back(node_region(*end));
    return regions;
  }

  struct Growth {
    std::unordered_set<const Node*> nodes;
    std::vector<const Value*> operands;  // in the order of their discovery, which decides what joins first
    void include(const Node& n, const Model& model) {
      nodes.insert(&n);
      const std::optional<PointwiseForm> form = pointwise_form(n, model);
      for (const Value* v : form->operands)
        if (std::find(operands.begin(), operands.end(), v) == operands.end()) operands.push_back(v);
    }
    size_t outer_operands() const {
      return static_cast<size_t>(std::count_if(operands.begin(), operands.end(), [&](const Value* v) {
        return v->producer() == nullptr || !nodes.contains(v->producer());
      }));
    }
  };

  /// A producer may join when nothing outside needs its result and it covers the same domain.
  bool may_join(const Growth& g, const Value* v, const Shape& domain) const {
    const Node* p = v->producer();
    if (p == nullptr || g.nodes.contains(p) || !is_free(p) || context_.is_pinned(v) || &p->graph() != &graph_)
      return false;
    // The cheap question first: a value may have very many uses.
    if (v->consumers().size() > kMaxNodes || shape_of(v) != domain || !pointwise_form(*p, context_.model))
      return false;
    return std::all_of(v->consumers().begin(), v->consumers().end(),
                       [&](const Node* c) { return g.nodes.contains(c); });
  }

  /// What a QuantizeLinear made: who reads it reads the levels, so what was quantized ends there.
  static bool gives_quantized_back(const Node& n) {
    const Node* before = quantization_of(n.output(0)) ? n.input(0)->producer() : nullptr;
    return before != nullptr && is_op(*before, "QuantizeLinear");
  }

  void add_pointwise(const Node& n) {
    const std::optional<Shape> domain = shape_of(n.output(0));
    if (!domain || !pointwise_form(n, context_.model) || gives_quantized_back(n)) return;
    Growth growth;
    growth.include(n, context_.model);
    for (bool grown = true; grown && growth.nodes.size() < kMaxNodes;) {
      grown = false;
      const std::vector<const Value*> operands = growth.operands;
      for (const Value* v : operands) {
        if (growth.nodes.size() >= kMaxNodes || !may_join(growth, v, *domain)) continue;
        Growth larger = growth;
        larger.include(*v->producer(), context_.model);
        if (larger.outer_operands() > kMaxOperands) continue;
        growth = std::move(larger);
        grown = true;
      }
    }
    if (growth.nodes.size() == 1) return;
    std::vector<const Node*> nodes(growth.nodes.begin(), growth.nodes.end());
    std::sort(nodes.begin(), nodes.end(),
              [&](const Node* a, const Node* b) { return position_.at(a) < position_.at(b); });
    std::vector<Region> alone;
    for (const Node* node : nodes) alone.push_back(node_region(*node));
    add({{pointwise_region(std::move(nodes))}, std::move(alone)});
  }

  PassContext context_;
  const Graph& graph_;
  std::unordered_map<const Node*, size_t> position_;
  std::unordered_set<const Node*> claimed_;
  /// Only these are free; null: all.
  const std::unordered_set<const Node*>* within_ = nullptr;
  std::vector<Cluster> clusters_;
};

}  // namespace

std::vector<Cluster> find_clusters(const Model& model) { return Finder(model).run(); }

}  // namespace assay::engine
