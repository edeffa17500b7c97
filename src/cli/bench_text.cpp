#include "cli/bench_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/utf8.h"
#include "console/terminal.h"
#include "console/text_table.h"

namespace assay::cli {
namespace {

/// Of a table of layers.
constexpr size_t kLayers = 20;
/// In percent; above it times are reported as unsteady.
constexpr double kUnsteady = 2.5;

void write_now(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

BenchProgress::BenchProgress() {
  const char* const terminal = std::getenv("TERM");
  const char* const no_color = std::getenv("NO_COLOR");
  is_on_ = ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb" &&
           log::enabled(log::Severity::kInfo);
  has_color_ = no_color == nullptr || *no_color == '\0';
}

void BenchProgress::show(const std::string& text) {
  if (!is_on_) return;
  const std::lock_guard lock(mutex_);
  if (shown_ == 0) log::flush();
  const size_t columns = text_columns();
  const std::string line(utf8_prefix(text, columns > 1 ? columns - 1 : 79));
  const std::string blanks(shown_ > line.size() ? shown_ - line.size() : 0, ' ');
  write_now(has_color_ ? fmt::format("\r\x1b[2m{}\x1b[0m{}", line, blanks)
                       : fmt::format("\r{}{}", line, blanks));
  shown_ = line.size();
}

void BenchProgress::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_ == 0) return;
  write_now("\r" + std::string(shown_, ' ') + "\r");
  shown_ = 0;
}

void BenchText::on_line(const std::string& line) {
  if (lines_ == Lines::kVerbose) return log::verbose("{}", line);
  progress_.clear();
  log::info("{}", line);
}

void BenchText::on_warning(const std::string& sentence) {
  progress_.clear();
  log::warning("{}", sentence);
}

void BenchText::on_progress(const std::string& text) {
  if (text.empty())
    progress_.clear();
  else
    progress_.show(text);
}

namespace {

std::string prepared_text(const bench::Ready& r) {
  const char* how = r.how == bench::Ready::How::kBuilt    ? "built"
                    : r.how == bench::Ready::How::kLoaded ? "loaded"
                                                          : "opened";
  const std::string size =
      r.plan_bytes == 0 ? "" : fmt::format(", {:.1f} MiB", static_cast<double>(r.plan_bytes) / (1 << 20));
  return fmt::format("{} {} in {:.3g} s{}", r.name, how, r.seconds, size);
}

std::string steadiness_text(const bench::Result& result, int64_t streams) {
  double most = 0;
  for (const bench::Row& row : result.rows) most = std::max(most, row.compute.variation);
  std::string text = fmt::format("times vary by {:.2g} %", most);
  if (most > kUnsteady) text += ": other processes may be running";
  if (streams > 1)
    text += fmt::format("; {} streams share the processor, so look at the runs per second", streams);
  return text;
}

std::string bench_table(const bench::Result& result) {
  const bool compares = result.backends.size() > 1;
  std::vector<TextTable::Column> columns = {{"Backend"},       {"Shapes"},        {"Median ms", true},
                                            {"Mean ms", true}, {"Min ms", true},  {"Max ms", true},
                                            {"Runs/s", true},  {"First ms", true}};
  if (compares) columns.insert(columns.end(), {{"Ratio", true}, {"Differs", true}});
  TextTable table(columns);
  for (const bench::Row& r : result.rows) {
    std::vector<std::string> cells = {r.backend, r.shapes};
    for (const double ms : {r.latency.median, r.latency.mean, r.latency.min, r.latency.max})
      cells.push_back(fmt::format("{:.4g}", ms));
    cells.push_back(fmt::format("{:.5g}", r.throughput));
    cells.push_back(fmt::format("{:.4g}", r.first_ms));
    if (compares) {
      cells.push_back(fmt::format("{:.3f}", r.ratio));
      cells.push_back(fmt::format("{:.1e}", r.difference));
    }
    table.add(std::move(cells));
  }
  return table.str(table_columns(0));
}

/// The layers that take most of the time.
std::string profile_table(const bench::LayerTimes& profile) {
  std::vector<const bench::LayerTimes::Layer*> layers;
  for (const bench::LayerTimes::Layer& layer : profile.layers) layers.push_back(&layer);
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto* a, const auto* b) { return a->total() > b->total(); });
  const double all = std::max(profile.total(), 1e-12),
               runs = static_cast<double>(std::max<size_t>(1, profile.runs));
  TextTable table({{"Layer"}, {"Mean ms", true}, {"Share", true}, {"Together", true}});
  double together = 0;
  for (size_t i = 0; i < std::min(kLayers, layers.size()); ++i) {
    const double total = layers[i]->total();
    together += total;
    table.add({layers[i]->name, fmt::format("{:.4f}", total / runs),
               fmt::format("{:.1f} %", 100 * total / all), fmt::format("{:.1f} %", 100 * together / all)});
  }
  std::string text = table.str(table_columns(0));
  if (layers.size() > kLayers)
    text += fmt::format("\n{} more layer(s) take {:.1f} %", layers.size() - kLayers,
                        100 * (all - together) / all);
  return text;
}

}  // namespace

void print_bench_summary(const bench::Options& options, const bench::Result& result) {
  size_t runs = 0;
  double seconds = 0;
  int64_t peak = 0;
  for (const bench::Row& row : result.rows) {
    runs += row.runs.size();
    seconds += row.wall_seconds;
    peak = std::max(peak, row.peak_bytes);
  }
  std::string prepared;
  for (const bench::Ready& r : result.backends) prepared += (prepared.empty() ? "" : "; ") + prepared_text(r);
  log::info("Model:     {}", options.model.empty() ? options.plan : options.model);
  log::info("Prepared:  {}", prepared);
  log::info("Processor: {}, {} thread(s)", result.processor, result.threads);
  if (result.rows.empty()) return;
  log::info("Runs:      {} in {:.3g} s", runs, seconds);
  log::info("Memory:    {:.1f} MiB at most", static_cast<double>(peak) / (1 << 20));
  log::info("Steady:    {}", steadiness_text(result, options.streams));
  if (options.dumps_profile)
    for (const bench::LayerTimes& profile : result.profiles)
      log::info("Layers of {}, in {} run(s) of their own:\n{}",
                profile.shapes.empty() ? "the model" : profile.shapes, profile.runs, profile_table(profile));
  log::info("{}", bench_table(result));
}

}  // namespace assay::cli
