#include "ops/tensor/element_index.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/sums/sums.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay {

std::vector<int64_t> element_positions(const Shape& data, const Tensor& indices, size_t axis) {
  const Shape& shape = indices.shape();
  require(shape.size() == data.size(), ErrorCode::kInvalidModel,
          "data of shape {} and indices of shape {} differ in rank", data.str(), shape.str());
  for (size_t d = 0; d < data.size(); ++d)
    require(d == axis || shape[d] <= data[d], ErrorCode::kInvalidModel,
            "indices of shape {} reach past data of shape {} along axis {}", shape.str(), data.str(), d);
  std::vector<int64_t> out = indices.to_int64();
  const std::vector<int64_t> strides = data.strides();
  const int64_t row = shape.back(), rows = row == 0 ? 0 : indices.numel() / row;
  const size_t inner = shape.size() - 1;
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(row, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r) {
                   int64_t base = 0, rest = r;
                   for (size_t d = inner; d-- > 0; rest /= shape[d])
                     if (d != axis) base += rest % shape[d] * strides[d];
                   int64_t* at = out.data() + r * row;
                   const int64_t step = axis == inner ? 0 : 1;
                   for (int64_t i = 0; i < row; ++i)
                     at[i] = base + resolve_index(at[i], data[axis], axis) * strides[axis] + i * step;
                 }
               });
  return out;
}

TuplePositions tuple_positions(const Shape& data, const Tensor& indices, size_t batch_dims) {
  const Shape& shape = indices.shape();
  require(!data.empty() && !shape.empty(), ErrorCode::kInvalidModel,
          "data and indices must have a dimension");
  require(batch_dims < std::min(data.size(), shape.size()), ErrorCode::kInvalidModel,
          "batch_dims is {} for data of shape {} and indices of shape {}", batch_dims, data.str(),
          shape.str());
  for (size_t d = 0; d < batch_dims; ++d)
    require(data[d] == shape[d], ErrorCode::kInvalidModel, "the batches of data {} and indices {} differ",
            data.str(), shape.str());
  const auto length = static_cast<size_t>(shape.back());
  require(length <= data.size() - batch_dims, ErrorCode::kInvalidModel,
          "tuples of {} indices are too long for data of shape {}", length, data.str());
  TuplePositions out;
  out.slice_rank_from = batch_dims + length;
  out.slice = data.numel(out.slice_rank_from, data.size());
  const std::vector<int64_t> values = indices.to_int64(), strides = data.strides();
  const int64_t tuples = shape.numel(0, shape.size() - 1);
  const int64_t batches = data.numel(0, batch_dims), batch_size = data.numel(batch_dims, data.size());
  out.positions.resize(static_cast<size_t>(tuples));
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t at = t / (tuples / batches) * batch_size;
    for (size_t k = 0; k < length; ++k) {
      const size_t d = batch_dims + k;
      at += resolve_index(values[static_cast<size_t>(t) * length + k], data[d], d) * strides[d];
    }
    out.positions[static_cast<size_t>(t)] = at;
  }
  return out;
}

ScatterReduction scatter_reduction(const OpContext& c) {
  if (c.since() < 16) return ScatterReduction::kNone;
  const std::string& name = c.attr_string("reduction");
  if (name == "none") return ScatterReduction::kNone;
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMul;
  if (c.since() >= 18 && name == "max") return ScatterReduction::kMax;
  if (c.since() >= 18 && name == "min") return ScatterReduction::kMin;
  fail(ErrorCode::kInvalidModel, "the reduction '{}' is unknown", name);
}

namespace {

/// The type that holds sums and products of T; unsigned for integers, which wrap.
template <typename T>
using Arithmetic = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;

template <typename T>
T reduce(T old, T update, ScatterReduction reduction) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(old) || std::isnan(update)) return old + update;
  const auto a = static_cast<Arithmetic<T>>(old), b = static_cast<Arithmetic<T>>(update);
  switch (reduction) {
    case ScatterReduction::kAdd:
      return static_cast<T>(a + b);
    case ScatterReduction::kMul:
      return static_cast<T>(a * b);
    case ScatterReduction::kMax:
      return std::max(old, update);
    case ScatterReduction::kMin:
      return std::min(old, update);
    case ScatterReduction::kNone:
      break;
  }
  return update;
}

}  // namespace

void scatter_slices(Tensor& data, const std::vector<int64_t>& positions, int64_t slice, const Tensor& updates,
                    ScatterReduction reduction) {
  require(data.dtype() == updates.dtype(), ErrorCode::kInvalidModel, "data are {}, updates are {}",
          dtype_name(data.dtype()), dtype_name(updates.dtype()));
  if (reduction == ScatterReduction::kNone) {
    visit_elements(data.dtype(), [&]<typename E>() {
      const E* from = elements<E>(updates);
      E* to = mutable_elements<E>(data);
      for (size_t i = 0; i < positions.size(); ++i, from += slice)
        std::copy_n(from, slice, to + positions[i]);
    });
    return;
  }
  visit_numeric(data.dtype(), [&]<typename T>() {
    const T* from = updates.data<T>();
    T* to = data.mutable_data<T>();
    for (const int64_t position : positions)
      for (int64_t k = 0; k < slice; ++k, ++from)
        to[position + k] = reduce(to[position + k], *from, reduction);
  });
}

int64_t most_updates(std::vector<int64_t> positions) {
  std::sort(positions.begin(), positions.end());
  int64_t most = 0;
  for (auto at = positions.begin(); at != positions.end();) {
    const auto next = std::upper_bound(at, positions.end(), *at);
    most = std::max<int64_t>(most, next - at);
    at = next;
  }
  return most;
}

void infer_scatter_elements(InferContext& c) {
  const Dims *data = c.input_dims(0), *indices = c.input_dims(1), *updates = c.input_dims(2);
  scatter_reduction(c);
  if (data != nullptr) normalize_axis(c.attr_int("axis"), static_cast<int>(data->size()));
  if (indices != nullptr && updates != nullptr) {
    c.check(indices->size() == updates->size(), "indices has rank {}, updates has rank {}", indices->size(),
            updates->size());
    for (size_t d = 0; d < indices->size(); ++d) merge_dim((*indices)[d], (*updates)[d]);
  }
  infer_same_as_input(c);
}

std::vector<int64_t> scatter_positions(const EvalContext& c) {
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), c.input(0).rank()));
  return element_positions(c.shape(0), c.input(1), axis);
}

void eval_scatter_elements(EvalContext& c) {
  c.check(c.shape(1) == c.shape(2), "indices has shape {}, updates has shape {}", c.shape(1).str(),
          c.shape(2).str());
  Tensor y = c.input(0);
  scatter_slices(y, scatter_positions(c), 1, c.input(2), scatter_reduction(c));
  c.set_output(0, std::move(y));
}

namespace {

/// Which slices of updates overlap, by the element of data where they begin.
using Meeting = std::unordered_map<int64_t, std::vector<int64_t>>;

template <typename Positions>
bool sums_of_scatter(EvalContext& c, int64_t i, int64_t slice, Positions positions, SummedElement& out) {
  if (c.input(0).dtype() != DType::kFloat64 || scatter_reduction(c) != ScatterReduction::kAdd) return false;
  std::shared_ptr<const void> here;
  std::shared_ptr<const void>& kept = out.kept == nullptr ? here : *out.kept;
  if (kept == nullptr) {
    auto meeting = std::make_shared<Meeting>();
    const std::vector<int64_t> places = positions();
    for (size_t k = 0; k < places.size(); ++k) (*meeting)[places[k]].push_back(static_cast<int64_t>(k));
    kept = std::move(meeting);
  }
  const auto& meeting = *static_cast<const Meeting*>(kept.get());
  Addends met{.terms = {c.input(0).data<double>()[i]}, .inner = 0};
  if (const auto it = meeting.find(i - i % slice); it != meeting.end())
    for (const int64_t k : it->second) met.terms.push_back(c.input(2).data<double>()[k * slice + i % slice]);
  set_sum_of_products(std::move(met), 1, 0, out);
  return true;
}

}  // namespace

bool sums_of_scatter_elements(EvalContext& c, int64_t i, SummedElement& out) {
  return sums_of_scatter(
      c, i, 1, [&] { return scatter_positions(c); }, out);
}

bool sums_of_scatter_nd(EvalContext& c, int64_t i, SummedElement& out) {
  const auto width = static_cast<size_t>(c.shape(1).back());
  return sums_of_scatter(
      c, i, c.shape(0).numel(width, c.shape(0).size()),
      [&] { return tuple_positions(c.shape(0), c.input(1), 0).positions; }, out);
}

}  // namespace assay
