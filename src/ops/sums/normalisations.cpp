// Sums that a normalization divides by: of powers, of squares, of distances from a mean.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/nn/normalize.h"
#include "ops/nn/softmax_rows.h"
#include "ops/sums/sums.h"
#include "ops/tensor/axes.h"

namespace assay {
namespace {

/// The steps after the normalized number.
struct Ending {
  double scale = 1, offset = 0;
};

/// The numbers of one row, one after the other.
struct Row {
  const double* x;
  std::vector<int64_t> places;  ///< empty: `count` next to each other
  int64_t count;
  double operator[](int64_t k) const { return x[places.empty() ? k : places[static_cast<size_t>(k)]]; }
};

template <typename F>
Addends addends_of(const Row& row, F f) {
  Addends a{.terms = std::vector<double>(static_cast<size_t>(row.count)), .inner = 0};
  for (int64_t k = 0; k < row.count; ++k) a.terms[static_cast<size_t>(k)] = f(row[k]);
  return a;
}

/// The sums that a mean and a variance are made of: that of the row, and that of the squares of the distances
/// from the computed mean. Returns the mean.
double set_moments(const Row& row, SummedElement& out) {
  const auto n = static_cast<double>(row.count);
  if (const MeasuredSums* known = out.known_row(); known != nullptr) return known->exact[0] / n;
  double mean = 0;
  for (int64_t k = 0; k < row.count; ++k) mean += row[k];
  mean /= n;
  out.sums.push_back(addends_of(row, [](double v) { return v; }));
  out.sums.push_back(addends_of(row, [=](double v) { return (v - mean) * (v - mean); }));
  return mean;
}

/// (x - mean) * inverse(variance) of the row.
void set_centred(const Row& row, double x, Ending end, const std::function<double(double)>& inverse,
                 SummedElement& out) {
  const auto n = static_cast<double>(row.count);
  const double mean = set_moments(row, out);
  out.result = [=](std::span<const double> sums) {
    const double own = sums[0] / n, variance = sums[1] / n + (own - mean) * (own - mean);
    return (x - own) * inverse(variance) * end.scale + end.offset;
  };
}

/// The mean, or f(variance), of the row.
void set_statistics(const Row& row, bool is_mean, const std::function<double(double)>& f,
                    SummedElement& out) {
  const auto n = static_cast<double>(row.count);
  const double mean = set_moments(row, out);
  out.result = [=](std::span<const double> sums) {
    const double own = sums[0] / n;
    return is_mean ? own : f(sums[1] / n + (own - mean) * (own - mean));
  };
}

/// x / root(mean of squares) of the row.
void set_root_mean_square(const Row& row, double x, double scale, double epsilon, SummedElement& out) {
  const auto n = static_cast<double>(row.count);
  if (out.known_row() == nullptr) out.sums.push_back(addends_of(row, [](double v) { return v * v; }));
  out.result = [=](std::span<const double> sums) { return x / std::sqrt(sums[0] / n + epsilon) * scale; };
}

double broadcast_at(const Tensor& t, const Shape& to, int64_t i) {
  const std::vector<int64_t> strides = broadcast_strides(t.shape(), to);
  OffsetCursor at(to.dims(), strides);
  at.seek(i);
  return t.data<double>()[at.offset()];
}

}  // namespace

bool sums_of_softmax(EvalContext& c, int64_t i, SummedElement& out) {
  const Slices s = softmax_slices(c);
  const int64_t first = i / (s.count * s.inner) * s.count * s.inner + i % s.inner;
  const double* x = c.input(0).data<double>();
  const double shift = largest(x + first, s), own = x[i] - shift;
  out.row = first;
  if (out.known_row() == nullptr) {
    std::vector<double> powers;
    for (int64_t k = 0; k < s.count; ++k) powers.push_back(std::exp(x[first + k * s.inner] - shift));
    out.sums.push_back({.terms = std::move(powers), .inner = 0});
  }
  const bool log = c.op().name == "LogSoftmax";
  out.result = [=](std::span<const double> sums) {
    return log ? own - std::log(sums[0]) : std::exp(own) / sums[0];
  };
  return true;
}

bool sums_of_layer_normalization(EvalContext& c, int64_t i, SummedElement& out) {
  const Shape& in = c.shape(0);
  const int64_t count =
      in.numel(static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank())), in.size());
  const double* x = c.input(0).data<double>();
  out.row = out.output == 0 ? i / count : i;
  const Row row{.x = x + out.row * count, .places = {}, .count = count};
  const double epsilon = c.attr_float("epsilon");
  if (out.output != 0) {
    set_statistics(
        row, out.output == 1, [=](double v) { return 1 / std::sqrt(v + epsilon); }, out);
    return true;
  }
  Ending end{.scale = broadcast_at(c.input(1), in, i)};
  if (c.op().name == "RMSNormalization") {
    set_root_mean_square(row, x[i], end.scale, epsilon, out);
    return true;
  }
  if (c.inputs().size() > 2 && c.input(2).defined()) end.offset = broadcast_at(c.input(2), in, i);
  set_centred(
      row, x[i], end, [=](double v) { return 1 / std::sqrt(v + epsilon); }, out);
  return true;
}

bool sums_of_channel_normalization(EvalContext& c, int64_t i, SummedElement& out) {
  const Shape& in = c.shape(0);
  const int64_t inner = in.numel(2, in.size()), channel = i / inner % in[1];
  const bool grouped = c.op().name == "GroupNormalization";
  const int64_t groups = grouped ? c.attr_int("num_groups") : in[1], count = in[1] / groups * inner;
  const int64_t scale = grouped && c.since() < 21 ? channel / (in[1] / groups) : channel;
  const double* x = c.input(0).data<double>();
  const Row row{.x = x + i / count * count, .places = {}, .count = count};
  out.row = i / count;
  const Ending end{.scale = c.input(1).data<double>()[scale], .offset = c.input(2).data<double>()[scale]};
  const double epsilon = c.attr_float("epsilon");
  set_centred(
      row, x[i], end, [=](double v) { return 1 / std::sqrt(v + epsilon); }, out);
  return true;
}

bool sums_of_batch_normalization(EvalContext& c, int64_t i, SummedElement& out) {
  if (!is_batch_training(c) || (c.since() < 9 && c.attr_int("spatial") == 0)) return false;
  const Shape& in = c.shape(0);
  const int64_t channels = in[1], inner = in.numel(2, in.size());
  out.row = out.output == 0 ? i / inner % channels : i;
  const double* x = c.input(0).data<double>();
  Row row{.x = x, .places = {}, .count = in[0] * inner};
  for (int64_t n = 0; out.known_row() == nullptr && n < in[0]; ++n)
    for (int64_t k = 0; k < inner; ++k) row.places.push_back((n * channels + out.row) * inner + k);
  if (out.output == 0) {
    const double epsilon = c.attr_float("epsilon");
    const Ending end{.scale = c.input(1).data<double>()[out.row],
                     .offset = c.input(2).data<double>()[out.row]};
    set_centred(
        row, x[i], end, [=](double v) { return 1 / std::sqrt(v + epsilon); }, out);
    return true;
  }
  const bool is_mean = out.output % 2 == 1;
  const double kept = out.output <= 2 ? c.attr_float("momentum") : 0,
               before = kept * c.input(is_mean ? 3 : 4).data<double>()[out.row];
  set_statistics(
      row, is_mean, [](double v) { return v; }, out);
  out.result = [=, batch = std::move(out.result)](std::span<const double> sums) {
    return before + (1 - kept) * batch(sums);
  };
  return true;
}

bool sums_of_mean_variance(EvalContext& c, int64_t i, SummedElement& out) {
  constexpr double kEpsilon = 1e-9;  // as in the operator
  const Shape& in = c.shape(0);
  const std::vector<int64_t> strides = in.strides();
  std::vector<int64_t> extents, steps;
  int64_t first = i;
  for (const size_t axis : normalize_axes(c.attr_ints("axes"), in.size())) {
    extents.push_back(in[axis]), steps.push_back(strides[axis]);
    first -= i / strides[axis] % in[axis] * strides[axis];
  }
  const double* x = c.input(0).data<double>();
  Row row{.x = x + first, .places = {}, .count = Shape(extents).numel()};
  out.row = first;
  OffsetCursor at(extents, steps);
  for (int64_t k = 0; k < row.count; ++k, at.next()) row.places.push_back(at.offset());
  set_centred(
      row, x[i], {}, [](double v) { return 1 / (std::sqrt(v) + kEpsilon); }, out);
  return true;
}

bool sums_of_lp_normalization(EvalContext& c, int64_t i, SummedElement& out) {
  const Shape& in = c.shape(0);
  const bool squares = c.attr_int("p") == 2;
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank()));
  const int64_t count = in[axis], inner = in.numel(axis + 1, in.size());
  const int64_t first = i / (count * inner) * count * inner + i % inner;
  const double* x = c.input(0).data<double>();
  const double own = x[i];
  out.row = first;
  if (out.known_row() == nullptr) {
    std::vector<double> terms;
    for (int64_t k = 0; k < count; ++k) {
      const double v = x[first + k * inner];
      terms.push_back(squares ? v * v : std::abs(v));
    }
    out.sums.push_back({.terms = std::move(terms), .inner = 0});
  }
  out.result = [=](std::span<const double> sums) { return own / (squares ? std::sqrt(sums[0]) : sums[0]); };
  return true;
}

}  // namespace assay
