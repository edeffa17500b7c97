// NGramRepeatBlock: scores of tokens that would repeat an n-gram of the sequence become -infinity.
#include <algorithm>
#include <limits>

#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_NGramRepeatBlock {
namespace {

int64_t ngram_size(const OpContext& c) {
  const int64_t n = c.attr_int("ngram_size");
  c.check(n > 0, "attribute 'ngram_size' is {}; it must be positive", n);
  return n;
}

void infer(InferContext& c) {
  ngram_size(c);
  const Dims *ids = c.input_dims(0), *scores = c.input_dims(1);
  c.check((ids == nullptr || ids->size() == 2) && (scores == nullptr || scores->size() == 2),
          "input_ids and scores must have 2 dimensions");
  if (scores != nullptr) return c.set_output(0, c.input_dtype(1), *scores);
  c.set_output(0, c.input_dtype(1));
}

void eval(EvalContext& c) {
  const int64_t n = ngram_size(c);
  const Shape &ids = c.shape(0), &scores = c.shape(1);
  c.check(ids.size() == 2 && scores.size() == 2 && ids[0] == scores[0],
          "input_ids of shape {} and scores of shape {} do not go together", ids.str(), scores.str());
  Tensor y = c.input(1);
  double* to = y.mutable_data<double>();
  const int64_t* tokens = c.input(0).data<int64_t>();
  for (int64_t b = 0; b < ids[0]; ++b) {
    const int64_t *begin = tokens + b * ids[1], *end = begin + ids[1];
    for (const int64_t* at = begin; n <= ids[1] && at + n <= end; ++at) {
      if (!std::equal(at, at + n - 1, end - (n - 1))) continue;
      const int64_t token = at[n - 1];
      c.check(token >= 0 && token < scores[1], "token {} is outside the {} of the scores", token, scores[1]);
      to[b * scores[1] + token] = -std::numeric_limits<double>::infinity();
    }
  }
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input_ids: Tid
in  scores: T
out scores_out: T
attr ngram_size: int required
type Tid: int64
type T: float)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "NGramRepeatBlock",
    .versions = kVersions,
};

}  // namespace assay::op_ms_NGramRepeatBlock
