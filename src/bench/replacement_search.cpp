#include "bench/replacement_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/error.h"
#include "bench/statistics.h"

namespace assay::bench {
namespace {

/// An outcome that chance brings about less often than this.
constexpr double kMostChance = 0.005;
/// A network that takes this much less time at most is not called faster.
constexpr double kLeastGain = 0.01;

/// The probability of at most `lost` heads in `parts` throws of a coin.
double chance_of(size_t lost, size_t parts) {
  double ways = std::pow(0.5, static_cast<double>(parts)), sum = 0;
  for (size_t heads = 0; heads <= lost; ++heads) {
    sum += ways;
    ways *= static_cast<double>(parts - heads) / static_cast<double>(heads + 1);
  }
  return sum;
}

double part_median(const Lane& lane, size_t part, size_t parts) {
  std::vector<double> seconds;
  for (size_t r = lane.runs.size() * part / parts; r < lane.runs.size() * (part + 1) / parts; ++r)
    seconds.push_back(lane.runs[r].end - lane.runs[r].start);
  return median(std::move(seconds));
}

class Search {
 public:
  Search(const SearchOptions& options, const SearchEvents& events) : options_(options), events_(events) {}

  SearchResult greedy(size_t count) {
    for (size_t instance = 0; instance < count; ++instance) {
      events_.on_progress(instance, count);
      Replacements tried = result_.best;
      tried.push_back(instance);
      const std::optional<Contest> found = measure(tried);
      if (!found) continue;
      if (found->is_faster) take(std::move(tried), *found);
      events_.on_decision(instance, found->is_faster, *found);
    }
    return std::move(result_);
  }

  SearchResult exhaustive(size_t count) {
    const bool fits = count < 60 && (size_t{1} << count) - 1 <= options_.most_combinations;
    const size_t most = fits ? (size_t{1} << count) - 1 : options_.most_combinations;
    result_.is_complete = fits;
    for (size_t number = 1; number <= most; ++number) {
      events_.on_progress(number - 1, most);
      Replacements tried;
      for (size_t instance = 0; instance < std::min<size_t>(count, 64); ++instance)
        if ((number >> instance & 1) != 0) tried.push_back(instance);
      const std::optional<Contest> found = measure(tried);
      if (!found || !found->is_faster) continue;
      take(std::move(tried), *found);
      time_ *= found->performance.latency / found->best_so_far.latency;
      events_.on_best(number, *found);
      if (1 - time_ > options_.threshold) {
        result_.is_complete = result_.is_complete && number == most;
        break;
      }
    }
    return std::move(result_);
  }

 private:
  std::optional<Contest> measure(const Replacements& tried) {
    ++result_.tested;
    try {
      return events_.measure(tried, result_.best);
    } catch (const Error& e) {
      ++result_.failed;
      events_.on_failure(tried, e.what());
      return std::nullopt;
    }
  }

  void take(Replacements tried, const Contest& found) {
    result_.best = std::move(tried);
    result_.performance = found.performance;
  }

  const SearchOptions& options_;
  const SearchEvents& events_;
  SearchResult result_;
  double time_ = 1;  ///< time of the best network, in times of the unchanged one
};

}  // namespace

std::string Performance::text() const {
  return fmt::format("Latency: {:.2f}ms, Throughput: {:.2f}fps, Memory: {:.2f}MB", 1e3 * latency, throughput,
                     memory / (1 << 20));
}

Outcome compare_lanes(const Lane& lane, const Lane& other, size_t parts) {
  if (lane.runs.size() < parts || other.runs.size() < parts) return Outcome::kOpen;
  size_t lost = 0;
  for (size_t part = 0; part < parts; ++part)
    if (part_median(lane, part, parts) >= part_median(other, part, parts)) ++lost;
  if (2 * lost >= parts || part_median(lane, 0, 1) > (1 - kLeastGain) * part_median(other, 0, 1))
    return Outcome::kNotFaster;
  return chance_of(lost, parts) <= kMostChance ? Outcome::kFaster : Outcome::kOpen;
}

SearchResult search_replacements(size_t count, const SearchOptions& options, const SearchEvents& events) {
  Search search(options, events);
  return options.mode == SearchMode::kGreedy ? search.greedy(count) : search.exhaustive(count);
}

}  // namespace assay::bench
