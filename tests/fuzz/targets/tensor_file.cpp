// Tensors and containers alone in files, as ONNX's test data are.
#include "fuzz/targets/model_inputs.h"
#include "fuzz/targets/target.h"
#include "onnx/container_data.h"
#include "onnx/tensor_data.h"
#include "onnx/writer.h"

namespace assay::fuzz::target_tensor_file {
namespace {

void run(std::string_view input) {
  const std::string& path = input_file(input.substr(std::min<size_t>(1, input.size())));
  switch (input.empty() ? 0 : input[0]) {
    case 1:
      onnx::load_container_file(path, DType::kSequence);
      return;
    case 2:
      onnx::load_container_file(path, DType::kMap);
      return;
    case 3:
      onnx::load_container_file(path, DType::kOptional);
      return;
    default:
      onnx::load_tensor_file(path);
  }
}

std::vector<std::string> seeds() {
  onnx::MessageWriter scalar, vector, strings, list, values, map, optional;
  scalar.integer(2, 1);
  scalar.fixed32(4, 1);
  for (const int64_t extent : {2, 2}) vector.integer(1, extent);
  vector.integer(2, 7);
  for (const int64_t v : {1, -1, 3, 4}) vector.integer(7, v);
  strings.integer(1, 2);
  strings.integer(2, 8);
  strings.text(6, "a");
  strings.text(6, "");
  list.integer(2, 1);
  list.message(3, vector);
  list.message(3, vector);
  values.integer(2, 1);
  values.message(3, scalar);
  map.integer(2, 7);
  map.text(3, "\x05");
  map.message(5, values);
  optional.integer(2, 3);
  optional.message(5, list);
  return {'\0' + scalar.bytes(), '\0' + vector.bytes(), '\0' + strings.bytes(),
          '\1' + list.bytes(),   '\2' + map.bytes(),    '\3' + optional.bytes()};
}

void mutate(std::string& input, Random& random) {
  if (input.empty()) return;
  std::string message = input.substr(1);
  mutate_protobuf(message, random);
  input.replace(1, std::string::npos, message);
}

}  // namespace

constinit const Target def = {
    .name = "tensor_file", .run = run, .seeds = seeds, .mutate = mutate, .most_bytes = 1024};

}  // namespace assay::fuzz::target_tensor_file
