// CategoryMapper: strings to integers or integers to strings, by two lists of one length. Of a repeated
// category the last counts.
#include <unordered_map>

#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_ml_CategoryMapper {
namespace {

void infer(InferContext& c) {
  const DType in = c.input_dtype(0);
  if (in == DType::kUndefined) return;
  const DType out = in == DType::kString ? DType::kInt64 : DType::kString;
  if (c.input_dims(0) != nullptr)
    c.set_output(0, out, *c.input_dims(0));
  else
    c.set_output(0, out);
}

template <typename From, typename To>
void map_categories(EvalContext& c, const std::vector<From>& from, const std::vector<To>& to,
                    const To& otherwise) {
  c.check(from.size() == to.size(), "cats_int64s and cats_strings differ in length: {} and {}",
          std::min(from.size(), to.size()), std::max(from.size(), to.size()));
  std::unordered_map<From, const To*> map;
  for (size_t i = 0; i < from.size(); ++i) map[from[i]] = &to[i];
  Tensor y = Tensor::allocate(dtype_of<To>(), c.shape(0));
  const From* x = c.input(0).data<From>();
  To* out = y.mutable_data<To>();
  for (int64_t i = 0; i < y.numel(); ++i) {
    const auto it = map.find(x[i]);
    out[i] = it == map.end() ? otherwise : *it->second;
  }
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) {
  const std::vector<int64_t> numbers = c.attr_ints("cats_int64s");
  const std::vector<std::string> words = c.attr_strings("cats_strings");
  const DType in = c.input(0).dtype();
  c.check(in == DType::kString || in == DType::kInt64, "the input is {}; it must be strings or int64",
          dtype_name(in));
  if (in == DType::kString)
    map_categories(c, words, numbers, c.attr_int("default_int64"));
  else
    map_categories(c, numbers, words, c.attr_string("default_string"));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
attr default_int64: int = -1
attr default_string: string = "_Unused"
attr cats_int64s: ints
attr cats_strings: strings
type T1: string int64
type T2: string int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "ai.onnx.ml", .name = "CategoryMapper", .versions = kVersions};

}  // namespace assay::op_ml_CategoryMapper
