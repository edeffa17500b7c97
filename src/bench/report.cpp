#include "bench/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/shapes.h"
#include "tensor/convert.h"
#include "tensor/value_tensors.h"

namespace assay::bench {
namespace {

/// Averages shown at either end of many.
constexpr size_t kShownAverages = 200;
/// In percent; above it times are reported as unsteady.
constexpr double kUnsteady = 2.5;

std::string times_line(const char* what, const Summary& s) {
  std::string line = fmt::format("{}: min = {:.6g} ms, max = {:.6g} ms, mean = {:.6g} ms, median = {:.6g} ms",
                                 what, s.min, s.max, s.mean, s.median);
  for (const auto& [percent, value] : s.percentiles)
    line += fmt::format(", percentile({:g}%) = {:.6g} ms", percent, value);
  return line;
}

}  // namespace

Lines trace_lines(const Row& row, int64_t average_runs) {
  Lines lines;
  lines.push_back(
      fmt::format("Warmup completed {} queries over {:.0f} ms", row.warm_up_runs, row.warm_up_ms));
  lines.push_back(
      fmt::format("Timing trace has {} queries over {:.6g} s", row.runs.size(), row.wall_seconds));
  lines.emplace_back();
  lines.emplace_back("=== Trace details ===");
  lines.push_back(fmt::format("Trace averages of {} runs:", average_runs));
  const auto n = static_cast<size_t>(average_runs);
  const size_t averages = row.runs.size() / n;
  for (size_t a = 0; a < averages; ++a) {
    if (averages > 2 * kShownAverages && a == kShownAverages) {
      lines.push_back(fmt::format("... Omitting {} lines", averages - 2 * kShownAverages));
      a = averages - kShownAverages;
    }
    double compute = 0, latency = 0, enqueue = 0;
    for (size_t i = a * n; i < (a + 1) * n; ++i) {
      const RunTimes& r = row.runs[i];
      compute += r.compute_end - r.compute_start;
      latency += r.end - r.start;
      enqueue += r.enqueued - r.start;
    }
    const double scale = 1e3 / static_cast<double>(n);
    lines.push_back(fmt::format(
        "Average on {} runs - GPU latency: {:.6g} ms - Host latency: {:.6g} ms (enqueue {:.6g} ms)", n,
        compute * scale, latency * scale, enqueue * scale));
  }
  return lines;
}

Lines summary_lines(const Row& row, int64_t streams) {
  Summary none = row.latency;
  none.min = none.max = none.mean = none.median = 0;
  for (auto& [percent, value] : none.percentiles) value = 0;
  Lines lines = {
      "=== Performance summary ===",
      fmt::format("Throughput: {:.6g} qps", row.throughput),
      times_line("Latency", row.latency),
      times_line("Enqueue Time", row.enqueue),
      times_line("H2D Latency", none),
      times_line("GPU Compute Time", row.compute),
      times_line("D2H Latency", none),
      fmt::format("Total Host Walltime: {:.6g} s", row.wall_seconds),
      fmt::format("Total GPU Compute Time: {:.6g} s",
                  1e-3 * row.compute.mean * static_cast<double>(row.compute.count)),
      fmt::format("Peak Memory: {:.1f} MiB (of the process, so far)",
                  static_cast<double>(row.peak_bytes) / (1 << 20)),
      "GPU Compute Time is the time in which the processor computed; nothing is transferred.",
  };
  if (row.compute.variation > kUnsteady)
    lines.push_back(
        fmt::format("The compute times are unsteady: their coefficient of variance is {:.3g}%. Other "
                    "processes may be running.",
                    row.compute.variation));
  if (streams > 1)
    lines.push_back(
        fmt::format("{} streams share the processor, so a latency is not that of a run alone; look at the "
                    "throughput.",
                    streams));
  return lines;
}

Lines table_lines(const Result& result) {
  if (result.rows.size() < 2) return {};
  size_t shapes = 6, backend = 7;
  for (const Row& r : result.rows) {
    shapes = std::max(shapes, r.shapes.size());
    backend = std::max(backend, r.backend.size());
  }
  Lines lines = {"=== All rows ===",
                 fmt::format("{:<{}}  {:<{}} {:>11} {:>11} {:>11} {:>11} {:>7} {:>9} {:>11}", "Shapes",
                             shapes, "Backend", backend, "Median(ms)", "Min(ms)", "Mean(ms)", "qps", "Ratio",
                             "Differs", "First(ms)")};
  for (const Row& r : result.rows)
    lines.push_back(
        fmt::format("{:<{}}  {:<{}} {:>11.4f} {:>11.4f} {:>11.4f} {:>11.2f} {:>7.3f} {:>9.1e} {:>11.3f}",
                    r.shapes, shapes, r.backend, backend, r.latency.median, r.latency.min, r.latency.mean,
                    r.throughput, r.ratio, r.difference, r.first_ms));
  if (result.backends.size() > 1)
    lines.push_back(fmt::format("Ratio: median latency relative to {}'s; above 1 is slower.",
                                result.backends.front().name));
  return lines;
}

Lines profile_lines(const LayerTimes& profile) {
  Lines lines = {fmt::format("=== Profile ({} iterations ) ===", profile.runs),
                 fmt::format("{:>12} {:>12} {:>12} {:>9}   {}", "Time(ms)", "Avg.(ms)", "Median(ms)",
                             "Time(%)", "Layer")};
  const double total = profile.total();
  const auto n = static_cast<double>(std::max<size_t>(1, profile.runs));
  double medians = 0;
  for (const LayerTimes::Layer& layer : profile.layers) {
    const double time = layer.total(), middle = median(layer.milliseconds);
    medians += middle;
    if (time <= 0) continue;
    lines.push_back(fmt::format("{:>12.2f} {:>12.4f} {:>12.4f} {:>9.1f}   {}", time, time / n, middle,
                                100 * time / total, layer.name));
  }
  lines.push_back(fmt::format("{:>12.2f} {:>12.4f} {:>12.4f} {:>9.1f}   Total", total, total / n, medians,
                              total > 0 ? 100.0 : 0.0));
  return lines;
}

namespace {

std::vector<std::string> complex_texts(const Tensor& t) {
  std::vector<std::string> texts;
  const auto pairs = [&]<typename T>(const T* numbers) {
    for (int64_t i = 0; i < t.numel(); ++i)
      texts.push_back(fmt::format("{}{:+}j", numbers[2 * i], numbers[2 * i + 1]));
  };
  if (t.dtype() == DType::kComplex64)
    pairs(static_cast<const float*>(t.data()));
  else
    pairs(static_cast<const double*>(t.data()));
  return texts;
}

}  // namespace

std::vector<std::string> element_texts(const Tensor& t) {
  std::vector<std::string> texts;
  if (is_complex(t.dtype())) return complex_texts(t);
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.span<std::string>()) texts.push_back(s);
  } else if (is_integer(t.dtype()) || t.dtype() == DType::kBool) {
    if (t.dtype() == DType::kUInt64)
      for (const uint64_t v : t.span<uint64_t>()) texts.push_back(fmt::format("{}", v));
    else
      for (const int64_t v : t.to_int64()) texts.push_back(fmt::format("{}", v));
  } else {
    const bool is_double = t.dtype() == DType::kFloat64;
    const Tensor numbers = convert(t, is_double ? DType::kFloat64 : DType::kFloat32);
    for (int64_t i = 0; i < numbers.numel(); ++i)
      texts.push_back(is_double ? fmt::format("{}", numbers.data<double>()[i])
                                : fmt::format("{}", numbers.data<float>()[i]));
  }
  return texts;
}

Lines output_lines(const TensorList& outputs) {
  Lines lines;
  for (const auto& [name, value] : outputs)
    for_each_tensor(name, value, [&](const std::string& part, const Tensor& tensor) {
      lines.push_back(fmt::format("{}: ({})", part, extents_text(tensor.shape().dims())));
      lines.push_back(fmt::format("{}", fmt::join(element_texts(tensor), " ")));
    });
  return lines;
}

Lines range_lines(const std::vector<OptimizationProfile>& profiles) {
  Lines lines;
  for (size_t p = 0; p < profiles.size(); ++p)
    for (const OptimizationProfile::Range& r : profiles[p].ranges())
      lines.push_back(fmt::format("Input build shape (profile {}): {}={}+{}+{}", p, r.input,
                                  extents_text(r.min), extents_text(r.opt), extents_text(r.max)));
  return lines;
}

}  // namespace assay::bench
