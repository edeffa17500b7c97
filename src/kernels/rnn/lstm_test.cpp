#include "kernels/rnn/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::kernels::lstm_test {
namespace {

struct Layer {
  int64_t steps, batch, hidden;
  std::vector<float> inputs, recurrent, hidden0, cell0;
};

Layer random_layer(int64_t steps, int64_t batch, int64_t hidden, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Layer l{.steps = steps, .batch = batch, .hidden = hidden};
  const auto fill = [&](std::vector<float>& v, int64_t n, float scale) {
    for (int64_t i = 0; i < n; ++i) v.push_back(normal(random) * scale);
  };
  fill(l.inputs, steps * batch * 4 * hidden, 1);
  fill(l.recurrent, 4 * hidden * hidden, 1 / std::sqrt(static_cast<float>(hidden)));
  fill(l.hidden0, batch * hidden, 0.5F);
  fill(l.cell0, batch * hidden, 1);
  return l;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The recurrence in float64: output [steps, batch, hidden], and the last cell state.
void exact(const Layer& l, bool backward, bool initial, std::vector<double>& y, std::vector<double>& c) {
  const int64_t n = l.batch * l.hidden;
  std::vector<double> h(static_cast<size_t>(n));
  c.assign(l.cell0.begin(), l.cell0.end());
  if (initial) h.assign(l.hidden0.begin(), l.hidden0.end());
  y.resize(static_cast<size_t>(l.steps * n));
  for (int64_t k = 0; k < l.steps; ++k) {
    const int64_t t = backward ? l.steps - 1 - k : k;
    std::vector<double> next(h.size());
    for (int64_t b = 0; b < l.batch; ++b)
      for (int64_t u = 0; u < l.hidden; ++u) {
        double gate[4];
        for (int64_t g = 0; g < 4; ++g) {
          gate[g] = l.inputs[((t * l.batch + b) * 4 + g) * l.hidden + u];
          for (int64_t i = 0; i < l.hidden; ++i)
            gate[g] += l.recurrent[(g * l.hidden + u) * l.hidden + i] * h[b * l.hidden + i];
        }
        double& cell = c[b * l.hidden + u];
        cell = sigmoid(gate[2]) * cell + sigmoid(gate[0]) * std::tanh(gate[3]);
        next[b * l.hidden + u] = sigmoid(gate[1]) * std::tanh(cell);
      }
    h = next;
    std::copy(h.begin(), h.end(), y.begin() + t * n);
  }
}

TEST(Lstm, MatchesTheRecurrence) {
  for (const int64_t hidden : {1, 3, 16, 33, 70})
    for (const int64_t batch : {1, 3})
      for (const int64_t count : {1, 2}) {
        const int64_t steps = 5, n = batch * hidden;
        std::vector<Layer> layers;
        for (int64_t d = 0; d < count; ++d)
          layers.push_back(random_layer(steps, batch, hidden, 10 + static_cast<uint32_t>(d)));
        std::vector<Layer> work = layers;
        std::vector<float> y(static_cast<size_t>(steps * count * n));
        std::vector<LstmDirection> directions;
        for (int64_t d = 0; d < count; ++d)
          directions.push_back({.steps = steps,
                                .batch = batch,
                                .hidden = hidden,
                                .inputs = work[d].inputs.data(),
                                .recurrent = work[d].recurrent.data(),
                                .initial_hidden = d == 0 ? work[d].hidden0.data() : nullptr,
                                .cell = work[d].cell0.data(),
                                .output = y.data() + d * n,
                                .output_step = count * n,
                                .backward = d == 1});
        lstm(directions.data(), count);
        for (int64_t d = 0; d < count; ++d) {
          std::vector<double> expected, cell;
          exact(layers[d], d == 1, d == 0, expected, cell);
          for (int64_t t = 0; t < steps; ++t)
            for (int64_t i = 0; i < n; ++i)
              ASSERT_NEAR(y[(t * count + d) * n + i], expected[t * n + i], 2e-5) << hidden;
          for (int64_t i = 0; i < n; ++i) ASSERT_NEAR(work[d].cell0[i], cell[i], 4e-5);
        }
      }
}

}  // namespace
}  // namespace assay::kernels::lstm_test
