#include "engine/build/selector.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "engine/build/assignment.h"

namespace assay::engine {
namespace {

/// What a later candidate must gain on an earlier one.
constexpr double kGain = 0.03;
/// What a wish makes of a candidate's time: less than anything that competes with it takes.
constexpr double kWish = 0.01;
/// Ways of one cluster that are weighed against those of its neighbours.
constexpr size_t kMaxWays = 16;

/// Layouts in which a cluster's way takes and gives values, where they are not row-major.
using Layouts = std::map<const Value*, Layout>;

Layout layout_of(const Layouts& layouts, const Value* v) {
  const auto it = layouts.find(v);
  return it == layouts.end() ? Layout() : it->second;
}

Layouts taken(const Candidate& c) {
  Layouts layouts;
  for (const Candidate::Operand& o : c.inputs)
    if (o.value != nullptr) layouts[o.value] = o.layout;
  for (const Candidate::View& v : c.views) layouts[v.source] = v.source_layout;
  return layouts;
}

Layouts given(const Candidate& c) {
  Layouts layouts;
  for (const Candidate::Operand& o : c.outputs)
    if (o.value != nullptr) layouts[o.value] = o.layout;
  for (const Candidate::View& v : c.views) layouts[v.value] = v.layout;
  return layouts;
}

/// One way to run a cluster: a partition, and an option for each of its regions.
struct Way {
  size_t partition = 0;
  std::vector<size_t> options;
  double seconds = 0;
  Layouts takes, gives;
};

class Selection {
 public:
  Selection(const Model& model, OptionMaker& maker, Costs& costs, const SelectHooks& hooks)
      : graph_(*model.graph), maker_(maker), costs_(costs), hooks_(hooks), clusters_(find_clusters(model)) {}

  std::vector<Choice> run() {
    for (size_t i = 0; i < clusters_.size(); ++i) {
      if (hooks_.progress) hooks_.progress(i, clusters_.size());
      find_ways(i);
    }
    const std::vector<size_t> chosen = assign();
    std::vector<Choice> choices;
    for (size_t i = 0; i < clusters_.size(); ++i) {
      const Way& way = ways_[i][chosen[i]];
      for (size_t r = 0; r < way.options.size(); ++r)
        choices.push_back({clusters_[i].partitions[way.partition][r],
                           std::move(options_[i][way.partition][r]), way.options[r]});
    }
    std::unordered_map<const Node*, size_t> position;
    for (const auto& n : graph_.nodes()) position[n.get()] = position.size();
    std::stable_sort(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
      return position.at(a.region.nodes.back()) < position.at(b.region.nodes.back());
    });
    return choices;
  }

 private:
  double reorder(const Value* v, Layout from, Layout to) {
    if (from == to) return 0;
    const Shape* shape = maker_.shape_of(v);
    return shape == nullptr ? 0 : costs_.reorder(v->type.dtype, *shape, from, to);
  }

  void find_ways(size_t index) {
    const Cluster& cluster = clusters_[index];
    auto& options = options_.emplace_back();
    std::vector<Way> ways;
    for (size_t p = 0; p < cluster.partitions.size(); ++p) {
      auto& row = options.emplace_back();
      for (const Region& region : cluster.partitions[p]) {
        row.push_back(with_context([&] { return "at node " + region.main->label(); },
                                   [&] { return maker_.options_of(region); }));
        if (row.back().options.empty()) break;
        costs_.rate(row.back().options);
        for (Option& o : row.back().options)
          if (o.is_preferred) o.seconds *= kWish;
        if (hooks_.filter) hooks_.filter(region, row.back().options);
        if (row.back().options.empty()) break;
      }
      if (row.size() == cluster.partitions[p].size() && !row.back().options.empty())
        add_ways(cluster.partitions[p], row, p, ways);
    }
    if (ways.empty()) refuse(index);
    ways_.emplace_back();
    for (const Way& way : ways) keep(way, ways_.back());
    forget_unused(options, ways_.back());
  }

  /// Of candidates that no way takes only what reports say about them stays.
  static void forget_unused(std::vector<std::vector<RegionOptions>>& options, const std::vector<Way>& ways) {
    for (size_t p = 0; p < options.size(); ++p) {
      if (std::none_of(ways.begin(), ways.end(), [&](const Way& w) { return w.partition == p; })) options[p] = {};
      for (size_t r = 0; r < options[p].size(); ++r)
        for (size_t o = 0; o < options[p][r].options.size(); ++o) {
          const bool used = std::any_of(ways.begin(), ways.end(),
                                        [&](const Way& w) { return w.partition == p && w.options[r] == o; });
          if (used) continue;
          Candidate& c = options[p][r].options[o].candidate;
          Candidate named;
          named.variant = std::move(c.variant);
          c = std::move(named);
        }
    }
  }

  /// Of ways with the same layouts the best one stays.
  static void keep(const Way& way, std::vector<Way>& kept) {
    for (Way& w : kept)
      if (w.takes == way.takes && w.gives == way.gives) {
        if (way.seconds < w.seconds * (1 - kGain)) w = way;
        return;
      }
    if (kept.size() < kMaxWays) kept.push_back(way);
  }

  [[noreturn]] void refuse(size_t index) const {
    const Cluster& cluster = clusters_[index];
    const std::vector<Region>& alone = cluster.partitions.back();
    const auto& rows = options_[index].back();
    const size_t r = rows.size() - 1;
    const std::vector<Refusal>& refusals = rows[r].refusals;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("at node {}: no tactic runs it: {}", alone[r].main->label(),
                            refusals.empty() ? std::string("none serves it") : refusals.back().reason));
  }

  /// All combinations of the regions' options.
  void add_ways(const std::vector<Region>& regions, const std::vector<RegionOptions>& options,
                size_t partition, std::vector<Way>& ways) {
    std::vector<Way> partial = {{.partition = partition}};
    std::vector<Layouts> inner = {{}};  // what values inside the cluster have become, for each partial way
    for (size_t r = 0; r < regions.size(); ++r) {
      std::vector<Way> longer;
      std::vector<Layouts> longer_inner;
      for (size_t w = 0; w < partial.size(); ++w)
        for (size_t o = 0; o < options[r].options.size(); ++o) {
          const Option& option = options[r].options[o];
          Way way = partial[w];
          Layouts made = inner[w];
          way.options.push_back(o);
          way.seconds += option.seconds;
          for (const auto& [v, layout] : taken(option.candidate)) {
            if (v->tensor().defined()) continue;
            if (const auto it = made.find(v); it != made.end())
              way.seconds += reorder(v, it->second, layout);
            else if (v->producer() == nullptr)
              way.seconds += reorder(v, {}, layout);
            else
              way.takes[v] = layout;
          }
          for (const auto& [v, layout] : given(option.candidate)) made[v] = layout;
          longer.push_back(std::move(way));
          longer_inner.push_back(std::move(made));
        }
      prune(longer, longer_inner);
      partial = std::move(longer);
      inner = std::move(longer_inner);
    }
    for (size_t w = 0; w < partial.size(); ++w) {
      for (const auto& [v, layout] : inner[w]) {
        const bool leaves =
            is_output(v) || std::any_of(v->consumers().begin(), v->consumers().end(),
                                        [&](const Node* c) { return !is_inside(regions, c); });
        if (!leaves) continue;
        partial[w].gives[v] = layout;
        if (is_output(v)) partial[w].seconds += reorder(v, layout, {});
      }
      ways.push_back(std::move(partial[w]));
    }
  }

  /// Keeps the combinations few: of those that look the same to what follows, the best.
  static void prune(std::vector<Way>& ways, std::vector<Layouts>& inner) {
    std::vector<Way> kept;
    std::vector<Layouts> kept_inner;
    for (size_t i = 0; i < ways.size(); ++i) {
      bool known = false;
      for (size_t k = 0; k < kept.size() && !known; ++k) {
        known = kept_inner[k] == inner[i] && kept[k].takes == ways[i].takes;
        if (known && ways[i].seconds < kept[k].seconds * (1 - kGain)) kept[k] = ways[i];
      }
      if (known) continue;
      kept.push_back(ways[i]);
      kept_inner.push_back(inner[i]);
    }
    ways = std::move(kept);
    inner = std::move(kept_inner);
  }

  static bool is_inside(const std::vector<Region>& regions, const Node* n) {
    return std::any_of(regions.begin(), regions.end(), [&](const Region& r) {
      return std::find(r.nodes.begin(), r.nodes.end(), n) != r.nodes.end();
    });
  }

  bool is_output(const Value* v) {
    if (outputs_.empty()) outputs_.insert(graph_.outputs.begin(), graph_.outputs.end());
    return outputs_.contains(v);
  }

  std::vector<size_t> assign() {
    Assignment assignment;
    std::unordered_map<const Value*, size_t> producers;
    for (size_t i = 0; i < clusters_.size(); ++i) {
      std::vector<double> seconds;
      for (const Way& w : ways_[i]) {
        seconds.push_back(w.seconds);
        for (const auto& entry : w.gives) producers[entry.first] = i;
      }
      assignment.add(std::move(seconds));
    }
    for (size_t i = 0; i < clusters_.size(); ++i) {
      Layouts all;
      for (const Way& w : ways_[i])
        for (const auto& entry : w.takes) all.insert(entry);
      for (const auto& entry : all) connect(assignment, producers.at(entry.first), i, entry.first);
    }
    return assignment.solve();
  }

  void connect(Assignment& assignment, size_t from, size_t to, const Value* v) {
    std::vector<double> seconds;
    bool any = false;
    for (const Way& a : ways_[from])
      for (const Way& b : ways_[to]) {
        // A way that does not take the value at all does not care.
        const auto it = b.takes.find(v);
        seconds.push_back(it == b.takes.end() ? 0 : reorder(v, layout_of(a.gives, v), it->second));
        any = any || seconds.back() != 0;
      }
    if (any) assignment.connect(from, to, seconds);
  }

  const Graph& graph_;
  OptionMaker& maker_;
  Costs& costs_;
  const SelectHooks& hooks_;
  std::vector<Cluster> clusters_;
  std::vector<std::vector<std::vector<RegionOptions>>> options_;  // by cluster, partition, region
  std::vector<std::vector<Way>> ways_;
  std::unordered_set<const Value*> outputs_;
};

}  // namespace

void EstimatedCosts::rate(std::vector<Option>& options) {
  for (Option& o : options) o.seconds = o.candidate.views.empty() ? o.candidate.estimate : 0;
}

double EstimatedCosts::reorder(DType dtype, const Shape& shape, Layout from, Layout to) {
  if (same_memory(shape, from, to)) return 0;
  return estimate_seconds(
      0, static_cast<double>(layout_bytes(dtype, shape, from) + layout_bytes(dtype, shape, to)), 1);
}

std::vector<Choice> select(const Model& model, OptionMaker& maker, Costs& costs, const SelectHooks& hooks) {
  return Selection(model, maker, costs, hooks).run();
}

}  // namespace assay::engine
