#include "engine/planner/selector.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "engine/planner/assignment.h"
#include "engine/tactics/move/reorder.h"

namespace assay::engine {
namespace {

/// What a later candidate must gain on an earlier one.
constexpr double kGain = 0.03;
/// What a wish makes of a candidate's time: less than anything that competes with it takes.
constexpr double kWish = 0.01;
/// Ways of one cluster that are weighed against those of its neighbours.
constexpr size_t kMaxWays = 16;
/// Combinations of the options of a cluster's first regions that are followed to its end.
constexpr size_t kMaxPartialWays = 64;

/// Formats in which a cluster's way takes and gives values, where they are not row-major.
using Formats = std::map<const Value*, Format>;

Format format_of(const Formats& formats, const Value* v) {
  const auto it = formats.find(v);
  return it == formats.end() ? Format() : it->second;
}

Formats taken(const Candidate& c) {
  Formats formats;
  for (const Candidate::Operand& o : c.inputs)
    if (o.value != nullptr) formats[o.value] = o.format;
  for (const Candidate::View& v : c.views) formats[v.source] = v.source_format;
  return formats;
}

Formats given(const Candidate& c) {
  Formats formats;
  for (const Candidate::Operand& o : c.outputs)
    if (o.value != nullptr) formats[o.value] = o.format;
  for (const Candidate::View& v : c.views) formats[v.value] = v.format;
  return formats;
}

/// One way to run a cluster: a partition, and an option for each of its regions.
struct Way {
  size_t partition = 0;
  std::vector<size_t> options;
  double seconds = 0;
  Formats takes, gives;
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
  double reorder(const Value* v, Format from, Format to) {
    if (from == to) return 0;
    const Shape* shape = maker_.shape_of(v);
    return shape == nullptr ? 0 : costs_.reorder(*v, *shape, from, to);
  }

  void find_ways(size_t index) {
    auto& options = options_.emplace_back();
    std::vector<Way> ways;
    if (!remember_ways(clusters_[index], options, ways)) ask_for_ways(clusters_[index], options, ways);
    if (ways.empty()) refuse(index);
    ways_.emplace_back();
    for (const Way& way : ways) keep(way, ways_.back());
    keep_best(ways_.back(), kMaxWays);
    forget_unused(options, ways_.back());
  }

  /// By partition, then region.
  using ClusterOptions = std::vector<std::vector<RegionOptions>>;

  /// Of the first partition that ran before. False when none did, or with other shapes.
  bool remember_ways(const Cluster& cluster, ClusterOptions& options, std::vector<Way>& ways) {
    if (hooks_.memory == nullptr || hooks_.memory->empty()) return false;
    for (size_t p = 0; p < cluster.partitions.size(); ++p) {
      std::vector<RegionOptions> row = remembered(cluster.partitions[p]);
      if (row.empty()) continue;
      options.resize(cluster.partitions.size());
      options[p] = std::move(row);
      add_ways(cluster.partitions[p], options[p], p, ways);
      return true;
    }
    return false;
  }

  /// How each of the regions ran; nothing where one of them did not. Of a node that stands for no step, a
  /// view perhaps, views are taken.
  std::vector<RegionOptions> remembered(const std::vector<Region>& regions) {
    std::vector<std::vector<ChoiceMemory::Known>> known;
    bool any = false;
    for (const Region& region : regions) {
      known.push_back(hooks_.memory->of(region));
      any = any || !known.back().empty();
      if (known.back().empty() && region.kind != RegionKind::kNode) return {};
    }
    std::vector<RegionOptions> row;
    for (size_t r = 0; any && r < regions.size(); ++r) {
      row.push_back(known[r].empty() ? views_of(regions[r]) : ask_as_before(regions[r], known[r]));
      if (row.back().options.empty()) return {};
    }
    return row;
  }

  RegionOptions ask_as_before(const Region& region, const std::vector<ChoiceMemory::Known>& known) {
    for (const ChoiceMemory::Known& k : known) {
      RegionOptions found = ask(region, k.option);
      if (found.options.size() == 1 && ChoiceMemory::is_near(k, found.options[0].candidate, maker_))
        return found;
    }
    return {};
  }

  RegionOptions views_of(const Region& region) {
    RegionOptions found = ask(region, {});
    std::erase_if(found.options, [](const Option& o) { return o.candidate.views.empty(); });
    return found;
  }

  /// With their times.
  RegionOptions ask(const Region& region, std::string_view name) {
    RegionOptions asked = with_context([&] { return node_place(region.main->label()); },
                                       [&] { return maker_.options_of(region, name); });
    if (asked.options.empty()) return asked;
    costs_.rate(asked.options);
    // Wishes come from plans for other shapes. Where these are here, it is known how far they go.
    if (hooks_.memory == nullptr || hooks_.memory->empty())
      for (Option& o : asked.options)
        if (o.is_preferred) o.seconds *= kWish;
    if (hooks_.filter) hooks_.filter(region, asked.options);
    return asked;
  }

  void ask_for_ways(const Cluster& cluster, ClusterOptions& options, std::vector<Way>& ways) {
    for (size_t p = 0; p < cluster.partitions.size(); ++p) {
      auto& row = options.emplace_back();
      for (const Region& region : cluster.partitions[p]) {
        row.push_back(ask(region, {}));
        if (row.back().options.empty()) break;
      }
      if (row.size() == cluster.partitions[p].size() && !row.back().options.empty())
        add_ways(cluster.partitions[p], row, p, ways);
    }
  }

  /// Of candidates that no way takes only what reports say about them stays.
  static void forget_unused(ClusterOptions& options, const std::vector<Way>& ways) {
    for (size_t p = 0; p < options.size(); ++p) {
      if (std::none_of(ways.begin(), ways.end(), [&](const Way& w) { return w.partition == p; }))
        options[p] = {};
      for (size_t r = 0; r < options[p].size(); ++r)
        for (size_t o = 0; o < options[p][r].options.size(); ++o) {
          const bool used = std::any_of(ways.begin(), ways.end(),
                                        [&](const Way& w) { return w.partition == p && w.options[r] == o; });
          if (used) continue;
          Candidate& c = options[p][r].options[o].candidate;
          Candidate named;
          named.variant = std::move(c.variant);
          named.arithmetic = c.arithmetic;
          c = std::move(named);
        }
    }
  }

  /// The `most` fastest, in the order that they have.
  static void keep_best(std::vector<Way>& ways, size_t most) {
    if (ways.size() <= most) return;
    std::vector<double> seconds;
    for (const Way& w : ways) seconds.push_back(w.seconds);
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(most - 1), seconds.end());
    const double limit = seconds[most - 1];
    size_t equal = most - static_cast<size_t>(std::count_if(ways.begin(), ways.end(),
                                                            [&](const Way& w) { return w.seconds < limit; }));
    std::erase_if(ways, [&](const Way& w) {
      if (w.seconds < limit) return false;
      if (w.seconds > limit || equal == 0) return true;
      --equal;
      return false;
    });
  }

  /// Of ways with the same formats the best one stays.
  static void keep(const Way& way, std::vector<Way>& kept) {
    for (Way& w : kept)
      if (w.takes == way.takes && w.gives == way.gives) {
        if (way.seconds < w.seconds * (1 - kGain)) w = way;
        return;
      }
    kept.push_back(way);
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

  /// The combinations of the regions' options, as long as they are few; else the fastest of them.
  void add_ways(const std::vector<Region>& regions, const std::vector<RegionOptions>& options,
                size_t partition, std::vector<Way>& ways) {
    std::vector<Way> partial = {{.partition = partition}};
    const LastUses last_uses = find_last_uses(regions);
    for (size_t r = 0; r < regions.size(); ++r) {
      std::vector<Way> longer;
      for (const Way& before : partial)
        for (size_t o = 0; o < options[r].options.size(); ++o) {
          const Option& option = options[r].options[o];
          Way way = before;
          Formats& made = way.gives;
          way.options.push_back(o);
          way.seconds += option.seconds;
          for (const auto& [v, format] : taken(option.candidate)) {
            if (v->tensor().defined()) continue;
            if (const auto it = made.find(v); it != made.end())
              way.seconds += reorder(v, it->second, format);
            else if (v->producer() == nullptr)
              way.seconds += reorder(v, {}, format);
            else
              way.takes[v] = format;
          }
          for (const auto& [v, format] : given(option.candidate)) made[v] = format;
          // What nothing asks for any more tells ways apart no longer.
          std::erase_if(made, [&](const auto& entry) {
            const auto it = last_uses.find(entry.first);
            return it == last_uses.end() || it->second <= r;
          });
          longer.push_back(std::move(way));
        }
      // Of those that look the same to what follows, the best.
      partial.clear();
      for (const Way& way : longer) keep(way, partial);
      keep_best(partial, kMaxPartialWays);
    }
    for (Way& way : partial) {
      for (const auto& [v, format] : way.gives)
        if (is_output(v)) way.seconds += reorder(v, format, {});
      ways.push_back(std::move(way));
    }
  }

  /// For values that regions of a cluster make: the last of these regions that takes it; kLeaves where others
  /// do, or the caller.
  using LastUses = std::unordered_map<const Value*, size_t>;
  static constexpr size_t kLeaves = std::numeric_limits<size_t>::max();

  LastUses find_last_uses(const std::vector<Region>& regions) {
    std::unordered_map<const Node*, size_t> region_of;
    for (size_t r = 0; r < regions.size(); ++r)
      for (const Node* n : regions[r].nodes) region_of[n] = r;
    LastUses last;
    for (const Region& region : regions)
      for (const Value* v : region.outputs()) {
        if (v == nullptr) continue;
        size_t use = 0;
        if (is_output(v)) use = kLeaves;
        for (const Node* c : v->consumers()) {
          const auto it = region_of.find(c);
          use = it == region_of.end() ? kLeaves : std::max(use, it->second);
          if (use == kLeaves) break;
        }
        last[v] = use;
      }
    return last;
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
      Formats all;
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
        seconds.push_back(it == b.takes.end() ? 0 : reorder(v, format_of(a.gives, v), it->second));
        any = any || seconds.back() != 0;
      }
    if (any) assignment.connect(from, to, seconds);
  }

  const Graph& graph_;
  OptionMaker& maker_;
  Costs& costs_;
  const SelectHooks& hooks_;
  std::vector<Cluster> clusters_;
  std::vector<ClusterOptions> options_;
  std::vector<std::vector<Way>> ways_;
  std::unordered_set<const Value*> outputs_;
};

}  // namespace

void EstimatedCosts::rate(std::vector<Option>& options) {
  for (Option& o : options) o.seconds = o.candidate.views.empty() ? o.candidate.estimate : 0;
}

double EstimatedCosts::reorder(const Value& v, const Shape& shape, Format from, Format to) {
  double seconds = 0;
  for (const Format& next : reorder_path(v, shape, from, to)) {
    seconds += estimate_seconds(0,
                                static_cast<double>(layout_bytes(stored_type(&v, from), shape, from.layout) +
                                                    layout_bytes(stored_type(&v, next), shape, next.layout)),
                                1);
    from = next;
  }
  return seconds;
}

std::vector<Choice> select(const Model& model, OptionMaker& maker, Costs& costs, const SelectHooks& hooks) {
  return Selection(model, maker, costs, hooks).run();
}

}  // namespace assay::engine
