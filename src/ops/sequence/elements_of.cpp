#include "ops/sequence/elements_of.h"

#include "ops/control/stack.h"

namespace assay {

std::span<const Tensor> sequence_elements(const EvalContext& c, size_t i) {
  c.check(c.input(i).dtype() == DType::kSequence, "input {} must be a sequence, it is of type {}", i,
          dtype_name(c.input(i).dtype()));
  return c.input(i).elements();
}

Type sequence_element_type(const InferContext& c, size_t i) {
  const Type& type = c.input_type(i);
  c.check(type.kind == Type::Kind::kUnknown || type.kind == Type::Kind::kSequence,
          "input {} must be a sequence, it is of type {}", i, type.str());
  return element_of(type);
}

int64_t sequence_position(const EvalContext& c, size_t i, int64_t n, int64_t limit, int64_t otherwise) {
  if (!c.has_input(i)) return otherwise;
  const int64_t position = single(c.input(i), "the position").to_int64()[0];
  c.check(position >= -n && position <= limit, "position {} is outside [{}, {}] in a sequence of {}",
          position, -n, limit, n);
  return position < 0 ? position + n : position;
}

void check_sequence(int64_t length, std::span<const Tensor> elements) {
  require(length <= kLongestSequence, ErrorCode::kInvalidModel, "a sequence of {} tensors is longer than {}",
          length, kLongestSequence);
  for (const Tensor& t : elements)
    require(t.dtype() != DType::kSequence && t.dtype() != DType::kOptional, ErrorCode::kInvalidModel,
            "a sequence cannot hold a value of type {}", dtype_name(t.dtype()));
}

Tensor make_sequence(std::vector<Tensor> elements) {
  check_sequence(static_cast<int64_t>(elements.size()), elements);
  return Tensor::sequence(std::move(elements));
}

}  // namespace assay
