// ai.onnx.ml: label tables.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "convert/rewrite.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

template <typename T>
const T* find_list(Rewrite& r, const std::string& name) {
  const Attribute* a = r.node().find_attribute(name);
  return a != nullptr ? a->get_if<T>() : nullptr;
}

/// The entries of a table to keep: the first, or the last, of equal keys.
template <typename T>
std::vector<size_t> kept_entries(const std::vector<T>& keys, bool first) {
  std::set<T> seen;
  std::vector<size_t> kept;
  for (size_t k = 0; k < keys.size(); ++k) {
    const size_t i = first ? k : keys.size() - 1 - k;
    if (seen.insert(keys[i]).second) kept.push_back(i);
  }
  if (!first) std::reverse(kept.begin(), kept.end());
  return kept;
}

template <typename T>
void pick(Rewrite& r, const std::string& name, const std::vector<size_t>& places) {
  const auto* all = find_list<std::vector<T>>(r, name);
  if (all == nullptr) return;
  std::vector<T> some;
  for (const size_t i : places)
    if (i < all->size()) some.push_back((*all)[i]);
  r.node().set_attribute(name, some);
}

void pick_values(Rewrite& r, const std::vector<size_t>& places) {
  pick<std::string>(r, "values_strings", places);
  pick<int64_t>(r, "values_int64s", places);
  pick<float>(r, "values_floats", places);
}

/// Keeps one entry per key; of equal keys version 2 uses the first, later versions the last.
template <typename T>
void drop_repeated(Rewrite& r, const std::string& name, bool first) {
  const auto* keys = find_list<std::vector<T>>(r, name);
  if (keys == nullptr) return;
  std::vector<T> own = *keys;
  std::vector<size_t> places = kept_entries(own, first);
  if constexpr (std::is_same_v<T, float>) std::erase_if(places, [&](size_t i) { return std::isnan(own[i]); });
  if (places.size() == own.size()) return;
  pick<T>(r, name, places);
  pick_values(r, places);
}

/// Positions in one list were the numbers; of a repeated word the last one applied.
void table_from_classes(Rewrite& r) {
  const auto* classes = find_list<Strings>(r, "classes_strings");
  if (classes == nullptr) no_equivalent("a node without the attribute 'classes_strings'");
  const Strings words = *classes;
  Ints places(words.size());
  std::iota(places.begin(), places.end(), int64_t{0});
  r.node().remove_attribute("classes_strings");
  if (r.dtype(0) != DType::kString) {
    r.node().set_attribute("keys_int64s", places);
    r.node().set_attribute("values_strings", words);
    return;
  }
  r.node().set_attribute("keys_strings", words);
  r.node().set_attribute("values_int64s", places);
  drop_repeated<std::string>(r, "keys_strings", false);
}

bool counts_up(const Ints* numbers) {
  if (numbers == nullptr) return false;
  for (size_t i = 0; i < numbers->size(); ++i)
    if ((*numbers)[i] != static_cast<int64_t>(i)) return false;
  return true;
}

void classes_from_table(Rewrite& r) {
  const auto* words = find_list<Strings>(r, "keys_strings");
  if (words != nullptr) drop_repeated<std::string>(r, "keys_strings", true);
  const bool by_word = words != nullptr && counts_up(find_list<Ints>(r, "values_int64s"));
  const bool by_place =
      find_list<Strings>(r, "values_strings") != nullptr && counts_up(find_list<Ints>(r, "keys_int64s"));
  if (!by_word && !by_place) no_equivalent("a table other than words and their places");
  const Strings classes = *find_list<Strings>(r, by_word ? "keys_strings" : "values_strings");
  for (const char* name : {"keys_strings", "values_strings", "keys_int64s", "values_int64s", "default_float"})
    r.node().remove_attribute(name);
  r.node().set_attribute("classes_strings", classes);
}

void last_of_equal_keys(Rewrite& r) {
  drop_repeated<std::string>(r, "keys_strings", true);
  drop_repeated<int64_t>(r, "keys_int64s", true);
  drop_repeated<float>(r, "keys_floats", true);
}

/// A tensor attribute as the list that older versions have for its type.
void tensor_to_list(Rewrite& r, const std::string& prefix) {
  const auto* held = find_list<UnalignedTensor>(r, prefix + "_tensor");
  if (held == nullptr) return;
  const Tensor t = held->aligned();
  r.node().remove_attribute(prefix + "_tensor");
  if (t.dtype() == DType::kString)
    r.node().set_attribute(prefix + "_strings",
                           Strings(t.data<std::string>(), t.data<std::string>() + t.numel()));
  else if (t.dtype() == DType::kInt64)
    r.node().set_attribute(prefix + "_int64s", t.to_int64());
  else if (t.dtype() == DType::kFloat32)
    r.node().set_attribute(prefix + "_floats", Floats(t.data<float>(), t.data<float>() + t.numel()));
  else
    no_equivalent("the attribute '{}_tensor' of type {}", prefix, dtype_name(t.dtype()));
}

void first_of_equal_keys(Rewrite& r) {
  tensor_to_list(r, "keys");
  tensor_to_list(r, "values");
  if (const auto* held = find_list<UnalignedTensor>(r, "default_tensor")) {
    const Tensor t = held->aligned();
    if (t.numel() != 1) no_equivalent("the attribute 'default_tensor' of shape {}", t.shape().str());
    r.node().remove_attribute("default_tensor");
    if (t.dtype() == DType::kString) r.node().set_attribute("default_string", *t.data<std::string>());
    if (t.dtype() == DType::kInt64) r.node().set_attribute("default_int64", *t.data<int64_t>());
    if (t.dtype() == DType::kFloat32) r.node().set_attribute("default_float", *t.data<float>());
  }
  if (const auto* keys = find_list<Floats>(r, "keys_floats"))
    for (const float k : *keys)
      if (std::isnan(k)) no_equivalent("the key NaN");
  drop_repeated<std::string>(r, "keys_strings", false);
  drop_repeated<int64_t>(r, "keys_int64s", false);
  drop_repeated<float>(r, "keys_floats", false);
}

}  // namespace

constinit const Adapter adapter_label_classes = {
    .name = "label_classes",
    .summary = "a table of keys and values, not one list of words",
    .up = table_from_classes,
    .down = classes_from_table};
constinit const Adapter adapter_label_tensors = {
    .name = "label_tensors",
    .summary = "tensors as tables; of equal keys the last counts; NaN is a key",
    .up = last_of_equal_keys,
    .down = first_of_equal_keys};

}  // namespace assay
