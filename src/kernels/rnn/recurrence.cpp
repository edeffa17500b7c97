#include "kernels/rnn/recurrence.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/int8/int8_product.h"
#include "kernels/rnn/cells.h"

namespace assay::kernels {
namespace {

/// Products of a step that are worth a thread each.
constexpr int64_t kStepGrain = 1 << 14;
/// Of whole walks.
constexpr int64_t kWalkGrain = 1 << 15;

/// Sequences of a direction that a thread takes through all steps by itself, at least: for fewer, weights are
/// loaded more slowly than they are multiplied. And weights that stay in a second-level cache meanwhile.
constexpr int64_t kSharedRows = 4, kSharedBytes = 800 << 10;

/// Scratch memory of a direction.
struct Scratch {
  Scratch(const RecurrentLayer& layer, void* memory) : at_(static_cast<char*>(memory)) {
    const int64_t states = layer.batch * layer.matrix(0).padded() * int64_t{sizeof(float)};
    order = reinterpret_cast<int64_t*>(take(layer.batch * int64_t{sizeof(int64_t)}));
    for (float*& h : hidden) h = reinterpret_cast<float*>(take(states));
    if (layer.kind == RecurrentKind::kLstm) cell = reinterpret_cast<float*>(take(states));
    if (layer.has_quantized) {
      const int64_t row = layer.matrix(0).row_numbers() * int64_t{sizeof(float)};
      sums = reinterpret_cast<int32_t*>(take(layer.batch * row));
      dense = reinterpret_cast<float*>(take(layer.batch * layer.hidden * int64_t{sizeof(float)}));
      quantized = take(QuantizedRows::scratch_bytes(layer.batch, layer.hidden));
    }
    if (!layer.is_split()) return;
    update = reinterpret_cast<float*>(take(states));
    reset = reinterpret_cast<float*>(take(states));
  }

  int64_t* order;
  float* hidden[2];  ///< before and after even steps
  float *cell = nullptr, *update = nullptr, *reset = nullptr;
  int32_t* sums = nullptr;  ///< of products of levels
  float* dense = nullptr;   ///< states without what fills up their rows
  void* quantized = nullptr;

 private:
  char* take(int64_t bytes) {
    char* const p = at_;
    at_ += (bytes + 63) / 64 * 64;
    return p;
  }
  char* at_;
};

int64_t length_of(const RecurrentLayer& layer, int64_t element) {
  return layer.lengths == nullptr ? layer.steps : layer.lengths[element];
}

/// States of the elements to rows of padded units; zeros without them.
void read_states(const RecurrentLayer& layer, const float* from, const int64_t* order, float* rows) {
  const int64_t padded = layer.matrix(0).padded();
  const auto bytes = static_cast<size_t>(layer.hidden) * sizeof(float);
  std::memset(rows, 0, static_cast<size_t>(layer.batch * padded) * sizeof(float));
  for (int64_t slot = 0; from != nullptr && slot < layer.batch; ++slot)
    std::memcpy(rows + slot * padded, from + order[slot] * layer.state_batch, bytes);
}

void write_state(const RecurrentLayer& layer, const float* row, float* to) {
  if (to != nullptr) std::memcpy(to, row, static_cast<size_t>(layer.hidden) * sizeof(float));
}

/// The steps beyond an element's last one.
void clear_rest(const RecurrentLayer& layer, const RecurrentDirection& d, int64_t element) {
  for (int64_t t = length_of(layer, element); d.output != nullptr && t < layer.steps; ++t)
    std::memset(d.output + t * layer.output_step + element * layer.output_batch, 0,
                static_cast<size_t>(layer.hidden) * sizeof(float));
}

void begin(const RecurrentLayer& layer, const RecurrentDirection& d) {
  const Scratch s(layer, d.scratch);
  for (int64_t b = 0; b < layer.batch; ++b) s.order[b] = b;
  if (layer.lengths != nullptr)
    std::sort(s.order, s.order + layer.batch, [&](int64_t a, int64_t b) {
      return layer.lengths[a] != layer.lengths[b] ? layer.lengths[a] > layer.lengths[b] : a < b;
    });
  read_states(layer, d.initial_hidden, s.order, s.hidden[0]);
  if (s.cell != nullptr) read_states(layer, d.initial_cell, s.order, s.cell);
}

void end(const RecurrentLayer& layer, const RecurrentDirection& d) {
  const Scratch s(layer, d.scratch);
  const int64_t padded = layer.matrix(0).padded();
  for (int64_t slot = 0; slot < layer.batch; ++slot) {
    const int64_t b = s.order[slot], at = b * layer.state_batch;
    const float* const last = s.hidden[length_of(layer, b) % 2] + slot * padded;
    write_state(layer, last, d.last_hidden == nullptr ? nullptr : d.last_hidden + at);
    if (s.cell != nullptr)
      write_state(layer, s.cell + slot * padded, d.last_cell == nullptr ? nullptr : d.last_cell + at);
    clear_rest(layer, d, b);
  }
}

/// Step k of slots from `first_slot` on, those that are at work; none of them: false.
bool prepare(const RecurrentLayer& layer, const RecurrentDirection& d, int64_t k, int64_t first_slot,
             int64_t last_slot, RecurrentStep& step) {
  const Scratch s(layer, d.scratch);
  while (last_slot > first_slot && length_of(layer, s.order[last_slot - 1]) <= k) --last_slot;
  step = {.layer = &layer,
          .direction = &d,
          .order = s.order,
          .step = k,
          .first_slot = first_slot,
          .last_slot = last_slot,
          .before = s.hidden[k % 2],
          .before_is_zero = k == 0 && d.initial_hidden == nullptr,
          .after = s.hidden[1 - k % 2],
          .cell = s.cell,
          .update = s.update,
          .reset = s.reset};
  return last_slot > first_slot;
}

/// The hidden states before a step as levels, by the range of the whole batch.
QuantizedRows quantize_hidden(const RecurrentLayer& layer, const RecurrentStep& step) {
  if (!layer.has_quantized || step.before_is_zero) return {};
  const Scratch s(layer, step.direction->scratch);
  const int64_t padded = layer.matrix(0).padded();
  if (padded == layer.hidden) return quantize_rows(step.before, layer.batch, layer.hidden, s.quantized);
  for (int64_t slot = 0; slot < layer.batch; ++slot)
    std::memcpy(s.dense + slot * layer.hidden, step.before + slot * padded,
                static_cast<size_t>(layer.hidden) * sizeof(float));
  return quantize_rows(s.dense, layer.batch, layer.hidden, s.quantized);
}

/// One part of a step for the units of blocks [first, last).
void run_units(const RecurrentLayer& layer, RecurrentStep step, const QuantizedRows& hidden, int64_t part,
               int64_t first, int64_t last) {
  if (hidden.levels.data != nullptr) {
    const Scratch s(layer, step.direction->scratch);
    const QuantizedGates& levels = step.direction->levels;
    const GateMatrix matrix = layer.matrix(layer.hidden);
    const int64_t numbers = matrix.row_numbers(), of_block = numbers / matrix.blocks();
    const int64_t column = first * of_block, count = (last - first) * of_block;
    int8_product(levels.weights, levels.packed, column / kInt8Columns, count / kInt8Columns, hidden.levels,
                 layer.batch, s.sums + column, numbers);
    step.column_scales = levels.scales, step.state_scale = hidden.scale;
    step.sums = s.sums;
  }
  recurrent_units(step, part, first, last);
}

/// All steps of some slots on this thread.
void walk(const RecurrentLayer& layer, const RecurrentDirection& d, int64_t first_slot, int64_t last_slot) {
  const int64_t blocks = layer.matrix(0).blocks();
  RecurrentStep step;
  for (int64_t k = 0; k < layer.steps && prepare(layer, d, k, first_slot, last_slot, step); ++k) {
    const QuantizedRows hidden = quantize_hidden(layer, step);
    for (int64_t part = 0; part < recurrent_parts(layer); ++part)
      run_units(layer, step, hidden, part, 0, blocks);
  }
}

/// Step by step, the units of all directions shared out.
void walk_together(const RecurrentLayer& layer, const RecurrentDirection* directions, int64_t count,
                   int64_t products) {
  const int64_t blocks = layer.matrix(0).blocks();
  const int64_t grain = std::max<int64_t>(1, kStepGrain * count * blocks / products);
  RecurrentStep steps[2];
  QuantizedRows hidden[2];
  for (int64_t k = 0; k < layer.steps; ++k) {
    for (int64_t d = 0; d < count; ++d) {
      if (!prepare(layer, directions[d], k, 0, layer.batch, steps[d])) return;
      hidden[d] = quantize_hidden(layer, steps[d]);
    }
    for (int64_t part = 0; part < recurrent_parts(layer); ++part)
      parallel_for(count * blocks, grain, [&](int64_t first, int64_t last) {
        for (int64_t d = first / blocks; d * blocks < last; ++d)
          run_units(layer, steps[d], hidden[d], part, std::max(first - d * blocks, int64_t{0}),
                    std::min(last - d * blocks, blocks));
      });
  }
}

/// Threads share the batch, not the units of each step: then they do not wait for each other in each. All
/// sequences are as long, so that shares are equal.
bool shares_batch(const RecurrentLayer& layer, int64_t count, int64_t threads) {
  const int64_t bytes = layer.recurrent_numbers() * int64_t{sizeof(float)};
  return layer.lengths == nullptr && !layer.has_quantized && layer.batch * count >= threads * kSharedRows &&
         bytes <= kSharedBytes;
}

}  // namespace

int64_t RecurrentLayer::recurrent_numbers() const { return matrix(hidden).numbers(); }

int64_t RecurrentLayer::scratch_bytes() const {
  const int64_t states = (batch * matrix(0).padded() * int64_t{sizeof(float)} + 63) / 64 * 64;
  const int64_t count = 2 + (kind == RecurrentKind::kLstm ? 1 : 0) + (is_split() ? 2 : 0);
  const int64_t rest = (batch * int64_t{sizeof(int64_t)} + 63) / 64 * 64 + count * states;
  if (!has_quantized) return rest;
  const auto whole = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  const int64_t row = matrix(0).row_numbers() * int64_t{sizeof(float)};
  return rest + whole(batch * row) + whole(batch * hidden * int64_t{sizeof(float)}) +
         QuantizedRows::scratch_bytes(batch, hidden);
}

void pack_recurrent(const RecurrentLayer& layer, const float* weights, float* packed) noexcept {
  const int64_t n = layer.hidden;
  if (!layer.is_split()) return pack_gates(layer.matrix(n), weights, packed);
  const GateMatrix gates{2, n, n}, candidate{1, n, n};
  pack_gates(gates, weights, packed);
  pack_gates(candidate, weights + 2 * n * n, packed + gates.numbers());
}

void pack_recurrent_bias(const RecurrentLayer& layer, const float* bias, float* row,
                         float* hidden_bias) noexcept {
  const int64_t n = layer.gates() * layer.hidden;
  const bool is_apart = layer.kind == RecurrentKind::kGru && layer.linear_before_reset;
  pack_gate_row(layer.matrix(0), bias, bias + n, is_apart ? layer.gates() - 1 : layer.gates(), row);
  if (is_apart) pack_gate_row({1, layer.hidden, 0}, bias + n + 2 * layer.hidden, nullptr, 0, hidden_bias);
}

void pack_peepholes(const RecurrentLayer& layer, const float* numbers, float* packed) noexcept {
  const GateMatrix gate{1, layer.hidden, 0};
  for (int64_t g = 0; g < 3; ++g)
    pack_gate_row(gate, numbers + g * layer.hidden, nullptr, 0, packed + g * gate.padded());
}

void run_recurrence(const RecurrentLayer& layer, const RecurrentDirection* directions,
                    int64_t count) noexcept {
  for (int64_t d = 0; d < count; ++d) begin(layer, directions[d]);
  const int64_t threads = thread_count(), batch = layer.batch;
  const int64_t products = count * batch * layer.recurrent_numbers();
  if (threads > count && products >= threads * kStepGrain && !shares_batch(layer, count, threads)) {
    walk_together(layer, directions, count, products);
  } else {
    const int64_t walks = threads > count && !layer.has_quantized ? count * batch : count,
                  size = count * batch / walks;
    const int64_t grain =
        std::max<int64_t>(1, kWalkGrain * walks / std::max<int64_t>(products * layer.steps, 1));
    parallel_for(walks, grain, [&](int64_t first, int64_t last) {
      first *= size, last *= size;
      for (int64_t d = first / batch; d * batch < last; ++d)
        walk(layer, directions[d], std::max(first - d * batch, int64_t{0}),
             std::min(last - d * batch, batch));
    });
  }
  for (int64_t d = 0; d < count; ++d) end(layer, directions[d]);
}

}  // namespace assay::kernels
