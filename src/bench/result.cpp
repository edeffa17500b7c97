#include "bench/result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/convert.h"

namespace assay::bench {

double LayerTimes::Layer::total() const {
  return std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0);
}

double LayerTimes::total() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.total();
  return sum;
}

void summarize_runs(Row& row, const Lane& lane, const std::vector<double>& percentiles) {
  std::vector<double> latency, enqueue, compute;
  for (const RunTimes& r : lane.runs) {
    latency.push_back(1e3 * (r.end - r.start));
    enqueue.push_back(1e3 * (r.enqueued - r.start));
    compute.push_back(1e3 * (r.compute_end - r.compute_start));
  }
  row.latency = summarize(std::move(latency), percentiles);
  row.enqueue = summarize(std::move(enqueue), percentiles);
  row.compute = summarize(std::move(compute), percentiles);
  row.runs = lane.runs;
  row.throughput = lane.throughput();
  row.wall_seconds = lane.busy;
  row.warm_up_runs = lane.warm_up_runs;
  row.warm_up_ms = 1e3 * lane.warm_up;
}

double relative_difference(const TensorList& a, const TensorList& b) {
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Tensor &x = a[i].tensor, &y = b[i].tensor;
    if (!x.defined() || !y.defined() || x.is_container() || x.dtype() != y.dtype() ||
        x.shape() != y.shape() || bit_width(x.dtype()) == 0 || is_complex(x.dtype()))
      continue;
    const Tensor p = to_float64(x), q = to_float64(y);
    double top = std::numeric_limits<double>::min(), gap = 0;
    for (int64_t e = 0; e < p.numel(); ++e) {
      const double u = p.data<double>()[e], v = q.data<double>()[e];
      if (u == v || (std::isnan(u) && std::isnan(v))) continue;
      if (std::isfinite(v)) top = std::max(top, std::abs(v));
      gap = std::max(gap, std::isfinite(u) && std::isfinite(v) ? std::abs(u - v)
                                                               : std::numeric_limits<double>::infinity());
    }
    if (gap > 0)
      for (const double v : q.span<double>())
        if (std::isfinite(v)) top = std::max(top, std::abs(v));
    worst = std::max(worst, gap / top);
  }
  return worst;
}

}  // namespace assay::bench
