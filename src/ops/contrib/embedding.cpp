#include "ops/contrib/embedding.h"

#include <algorithm>

#include "ops/tensor/elements.h"

namespace assay {
namespace {

/// Rows of `table` for ids that repeat over the batch when there is one row of them.
Tensor rows_of(const Tensor& table, const std::vector<int64_t>& ids, const Shape& out, const char* what) {
  Tensor y = checked_allocation(DType::kFloat64, out);
  const int64_t hidden = out.back(), count = hidden == 0 ? 0 : y.numel() / hidden;
  const double* from = table.data<double>();
  double* to = y.mutable_data<double>();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = ids[static_cast<size_t>(i) % ids.size()];
    require(id >= 0 && id < table.dim(0), ErrorCode::kInvalidModel, "{} {} is outside the table of {}", what,
            id, table.dim(0));
    std::copy_n(from + id * hidden, hidden, to + i * hidden);
  }
  return y;
}

}  // namespace

Traced embed(const EvalContext& c, Steps& steps, const EmbeddingIds& ids, const EmbeddingTables& tables) {
  const Shape& in = c.shape(ids.words);
  c.check(in.size() == 2, "input_ids has shape {} where (batch, sequence) is needed", in.str());
  c.check(c.has_input(ids.segments) == tables.segments.defined(),
          "segment_ids and segment_embedding must be given together");
  c.check(tables.words.rank() == 2, "the word table has shape {} where (words, hidden) is needed",
          tables.words.shape().str());
  for (const Tensor* t : {&tables.words, &tables.positions, &tables.segments})
    c.check(!t->defined() || (t->rank() == 2 && t->dim(1) == tables.words.shape().back()),
            "a table has shape {} where (entries, {}) is needed", t->shape().str(),
            tables.words.shape().back());
  const Shape out = {in[0], in[1], tables.words.dim(1)};
  std::vector<int64_t> positions(static_cast<size_t>(in[1]));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  if (c.has_input(ids.positions)) {
    const Shape& shape = c.shape(ids.positions);
    c.check(shape == in || shape == (Shape{1, in[1]}), "position_ids has shape {} for input_ids of shape {}",
            shape.str(), in.str());
    positions = c.input(ids.positions).to_int64();
  }
  Traced sum = steps.add(steps.given(rows_of(tables.words, c.input(ids.words).to_int64(), out, "word")),
                         steps.given(rows_of(tables.positions, positions, out, "position")));
  if (!tables.segments.defined()) return sum;
  c.check(c.shape(ids.segments) == in, "segment_ids has shape {}, input_ids {}", c.shape(ids.segments).str(),
          in.str());
  const std::vector<int64_t> segments = c.input(ids.segments).to_int64();
  return steps.add(sum, steps.given(rows_of(tables.segments, segments, out, "segment")));
}

Tensor mask_lengths(const EvalContext& c, size_t mask) {
  const Shape& in = c.shape(0);
  Tensor lengths = Tensor::zeros(DType::kInt32, {in[0]});
  if (!c.has_input(mask)) return lengths;
  c.check(c.shape(mask) == in, "the mask has shape {}, input_ids {}", c.shape(mask).str(), in.str());
  int32_t* to = lengths.mutable_data<int32_t>();
  const int32_t* from = c.input(mask).data<int32_t>();
  for (int64_t i = 0; i < c.input(mask).numel(); ++i) to[i / in[1]] += from[i] == 1;
  return lengths;
}

void infer_embedding(InferContext& c, size_t words_table, DType dtype) {
  const Dims *ids = c.input_dims(0), *table = c.input_dims(words_table);
  c.check(ids == nullptr || ids->size() == 2, "input_ids has {} dimensions where 2 are needed",
          ids ? ids->size() : 0);
  c.check(table == nullptr || table->size() == 2, "the word table has {} dimensions where 2 are needed",
          table ? table->size() : 0);
  const Dim batch = ids ? (*ids)[0] : Dim(), sequence = ids ? (*ids)[1] : Dim();
  c.set_output(0, dtype, {batch, sequence, table ? (*table)[1] : Dim()});
  c.set_output(1, DType::kInt32, {batch});
}

}  // namespace assay
