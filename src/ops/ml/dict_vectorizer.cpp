// DictVectorizer: the values of a map at the positions of their keys in a vocabulary, zeros or empty strings
// where a key is missing, as a row, [1, n]. Keys outside the vocabulary are left out. (The specification's
// text says one dimension; exporters declare two, as ONNX Runtime gives.)
#include <unordered_map>

#include "ops/ml/map_value.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_ml_DictVectorizer {
namespace {

int64_t vocabulary_size(const OpContext& c) {
  const size_t numbers = c.attr_ints("int64_vocabulary").size(),
               words = c.attr_strings("string_vocabulary").size();
  c.check((numbers == 0) != (words == 0),
          "exactly one of the attributes int64_vocabulary and string_vocabulary must have entries");
  return static_cast<int64_t>(numbers + words);
}

void infer(InferContext& c) { c.set_output(0, infer_map_values(c), {Dim(1), Dim(vocabulary_size(c))}); }

/// For each key its position in the vocabulary, or -1.
template <typename K>
std::vector<int64_t> places_of(std::span<const K> keys, const std::vector<K>& vocabulary) {
  std::unordered_map<K, int64_t> index;
  for (size_t i = 0; i < vocabulary.size(); ++i) index[vocabulary[i]] = static_cast<int64_t>(i);
  std::vector<int64_t> places;
  for (const K& key : keys) {
    const auto it = index.find(key);
    places.push_back(it == index.end() ? -1 : it->second);
  }
  return places;
}

void eval(EvalContext& c) {
  const MapValue map(c);
  const int64_t size = vocabulary_size(c);
  const std::vector<std::string> words = c.attr_strings("string_vocabulary");
  c.check(words.empty() == (map.keys.dtype() != DType::kString), "the vocabulary has {}, but the keys are {}",
          words.empty() ? "integers" : "strings", dtype_name(map.keys.dtype()));
  std::vector<int64_t> places;
  if (words.empty())
    places = places_of<int64_t>(map.keys.to_int64(), c.attr_ints("int64_vocabulary"));
  else
    places = places_of<std::string>(map.keys.span<std::string>(), words);
  Tensor y = Tensor::zeros(map.values.dtype(), {1, size});
  visit_elements(y.dtype(), [&]<typename E>() {
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0) mutable_elements<E>(y)[places[i]] = elements<E>(map.values)[i];
  });
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
attr int64_vocabulary: ints
attr string_vocabulary: strings
type T1: map(string, int64) map(int64, string) map(int64, float) map(int64, double) map(string, float) map(string, double)
type T2: int64 float double string)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "DictVectorizer", .versions = kVersions};

}  // namespace assay::op_ml_DictVectorizer
