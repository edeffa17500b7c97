// TfIdfVectorizer: counts how often each n-gram of a pool occurs in every row. The items of an n-gram may be
// apart, all by the same number of skipped items, from none to `max_skip_count`; single items are
// counted once. Mode IDF counts an n-gram at most once; IDF and TFIDF scale by weights.
//
// weights[i] belongs to the i-th n-gram of the pool. (ONNX's reference implementation takes it for column i
// of the output; where ngram_indexes is 0, 1, 2, ... that is the same.)
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_TfIdfVectorizer {
namespace {

/// The attributes, checked.
struct Settings {
  explicit Settings(const OpContext& c);

  bool once;                     ///< mode IDF
  std::vector<double> weights;   ///< for each n-gram of the pool; ones in mode TF
  std::vector<int64_t> columns;  ///< of the output, for each n-gram
  std::vector<int64_t> starts;   ///< where the 1-grams, 2-grams, ... begin in the pool
  int64_t shortest, longest, skips;
  int64_t width;  ///< of the output
};

Settings::Settings(const OpContext& c)
    : columns(c.attr_ints("ngram_indexes")),
      starts(c.attr_ints("ngram_counts")),
      shortest(c.attr_int("min_gram_length")),
      longest(c.attr_int("max_gram_length")),
      skips(c.attr_int("max_skip_count")) {
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "TF" || mode == "IDF" || mode == "TFIDF",
          "attribute 'mode' is '{}'; it must be TF, IDF or TFIDF", mode);
  once = mode == "IDF";
  c.check(1 <= shortest && shortest <= longest && longest <= static_cast<int64_t>(starts.size()),
          "n-grams of {} to {} items are asked for; ngram_counts has those of 1 to {}", shortest, longest,
          starts.size());
  c.check(skips >= 0, "attribute 'max_skip_count' is {}", skips);
  c.check(!columns.empty(), "attribute 'ngram_indexes' is empty");
  const auto [least, largest] = std::minmax_element(columns.begin(), columns.end());
  c.check(*least >= 0 && *largest < INT64_MAX, "attribute 'ngram_indexes' has the entry {}",
          *least < 0 ? *least : *largest);
  width = *largest + 1;
  weights = c.attr_floats("weights");
  c.check(weights.empty() || weights.size() == columns.size(), "{} weights for {} n-grams", weights.size(),
          columns.size());
  if (weights.empty() || mode == "TF") weights.assign(columns.size(), 1);
}

void infer(InferContext& c) {
  const Settings s(c);
  const Dims* in = c.input_dims(0);
  c.set_output(0, DType::kFloat32);
  if (in == nullptr) return;
  c.check(in->size() == 1 || in->size() == 2, "the input has rank {}; it must be [C] or [N, C]", in->size());
  Dims out = *in;
  out.back() = Dim(s.width);
  c.set_output(0, DType::kFloat32, std::move(out));
}

/// The pool's n-grams as a tree of items.
template <typename Item>
class Pool {
 public:
  Pool(const OpContext& c, const Settings& s, const std::vector<Item>& items) {
    int64_t id = 0;
    for (size_t i = 0; i < s.starts.size(); ++i) {
      const auto length = static_cast<int64_t>(i) + 1, size = static_cast<int64_t>(items.size());
      const int64_t first = s.starts[i], last = i + 1 < s.starts.size() ? s.starts[i + 1] : size;
      c.check(0 <= first && first <= last && last <= size && (last - first) % length == 0,
              "ngram_counts puts the {}-grams at items {} to {} of a pool of {}", length, first, last, size);
      const bool wanted = s.shortest <= length && length <= s.longest;
      for (int64_t at = first; at < last; at += length, ++id)
        if (wanted)
          c.check(add(&items[static_cast<size_t>(at)], length, id), "{}-gram {} of the pool occurs twice",
                  length, (at - first) / length);
    }
    c.check(id == static_cast<int64_t>(s.columns.size()), "the pool has {} n-grams, ngram_indexes {}", id,
            s.columns.size());
  }

  static constexpr int32_t kRoot = 0, kNone = -1;
  /// A number for an item; kNone when no n-gram has it.
  int32_t token(const Item& item) const {
    const auto it = tokens_.find(item);
    return it == tokens_.end() ? kNone : it->second;
  }
  /// The n-gram one token longer; kNone when there is none.
  int32_t next(int32_t node, int32_t token) const {
    const auto it = children_.find(key(node, token));
    return it == children_.end() ? kNone : it->second;
  }
  /// The n-gram that ends here; kNone when it is only the beginning of others.
  int64_t id(int32_t node) const { return ids_[static_cast<size_t>(node)]; }

 private:
  static uint64_t key(int32_t node, int32_t token) {
    return static_cast<uint64_t>(node) << 32 | static_cast<uint32_t>(token);
  }
  bool add(const Item* items, int64_t length, int64_t id) {
    int32_t node = kRoot;
    for (int64_t i = 0; i < length; ++i) {
      const int32_t token = tokens_.emplace(items[i], static_cast<int32_t>(tokens_.size())).first->second;
      const auto [it, fresh] = children_.emplace(key(node, token), static_cast<int32_t>(ids_.size()));
      if (fresh) ids_.push_back(kNone);
      node = it->second;
    }
    return std::exchange(ids_[static_cast<size_t>(node)], id) == kNone;
  }

  std::unordered_map<Item, int32_t> tokens_;
  std::unordered_map<uint64_t, int32_t> children_;
  std::vector<int64_t> ids_ = {kNone};
};

/// Counts in `counts` the n-grams of the pool that one row of tokens holds.
template <typename Item>
void count_row(const Pool<Item>& pool, const Settings& s, const std::vector<int32_t>& row,
               std::vector<int64_t>& counts) {
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t distance = 1; distance - 1 <= s.skips && (distance == 1 || distance < length); ++distance) {
    for (int64_t start = 0; start < length; ++start) {
      int32_t node = Pool<Item>::kRoot;
      int64_t at = start;
      for (int64_t n = 1; n <= s.longest && at < length; ++n, at += distance) {
        if (row[static_cast<size_t>(at)] == Pool<Item>::kNone) break;
        node = pool.next(node, row[static_cast<size_t>(at)]);
        if (node == Pool<Item>::kNone) break;
        const int64_t id = pool.id(node);
        if (id >= 0 && (n > 1 || distance == 1)) ++counts[static_cast<size_t>(id)];
      }
    }
  }
}

/// Adds the counts to a row of the output, as the mode defines.
void weigh(const Settings& s, const std::vector<int64_t>& counts, double* row) {
  for (size_t i = 0; i < counts.size(); ++i)
    row[s.columns[i]] +=
        s.weights[i] * static_cast<double>(s.once ? std::min<int64_t>(counts[i], 1) : counts[i]);
}

template <typename Item, typename Stored>
void vectorize(EvalContext& c, const std::vector<Item>& items) {
  const Settings s(c);
  const Pool<Item> pool(c, s, items);
  const Shape& in = c.shape(0);
  c.check(in.rank() == 1 || in.rank() == 2, "the input has rank {}; it must be [C] or [N, C]", in.rank());
  const int64_t length = in.back(), rows = in.rank() == 1 ? 1 : in[0];
  Shape out = in;
  out[out.size() - 1] = s.width;
  check_output_size(DType::kFloat64, out);
  Tensor y = Tensor::zeros(DType::kFloat64, out);
  const Stored* x = c.input(0).data<Stored>();
  auto* py = y.mutable_data<double>();
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / 64 / std::max<int64_t>(length, 1)),
               [&](int64_t first, int64_t last) {
                 std::vector<int32_t> tokens(static_cast<size_t>(length));
                 std::vector<int64_t> counts(s.columns.size());
                 for (int64_t r = first; r < last; ++r) {
                   for (int64_t i = 0; i < length; ++i)
                     tokens[static_cast<size_t>(i)] = pool.token(static_cast<Item>(x[r * length + i]));
                   std::fill(counts.begin(), counts.end(), 0);
                   count_row(pool, s, tokens, counts);
                   weigh(s, counts, py + r * s.width);
                 }
               });
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) {
  const DType dtype = c.input(0).dtype();
  const bool strings = dtype == DType::kString;
  c.check(c.has_attr("pool_strings") != c.has_attr("pool_int64s"),
          "one of the attributes 'pool_strings' and 'pool_int64s' must be given");
  c.check(c.has_attr("pool_strings") == strings, "the pool is of {}, but the input is {}",
          strings ? "integers" : "strings", dtype_name(dtype));
  if (strings)
    vectorize<std::string, std::string>(c, c.attr_strings("pool_strings"));
  else
    visit_dtype<int32_t, int64_t>(
        dtype, [&]<typename T>() { vectorize<int64_t, T>(c, c.attr_ints("pool_int64s")); });
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  X: T
out Y: T1
attr mode: string required
attr ngram_indexes: ints required
attr weights: floats
attr ngram_counts: ints required
attr pool_int64s: ints
attr pool_strings: strings
attr max_skip_count: int required
attr min_gram_length: int required
attr max_gram_length: int required
type T: string int32 int64
type T1: float)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "TfIdfVectorizer",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
};

}  // namespace assay::op_onnx_TfIdfVectorizer
