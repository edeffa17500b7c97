// Inputs for the targets that read models, and a change of protobuf messages that keeps their lengths right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/random.h"

namespace assay::fuzz {

/// Small models in text form that between them use all of the syntax, and every text that has shown a fault.
std::vector<std::string> text_models();
/// The same in binary form, and every binary model that has shown a fault.
std::vector<std::string> binary_models();

/// Changes one field at any depth: takes it out, doubles it, gives it another number, edge values, other
/// bytes, or the place of another. Bytes that are not message are changed as bytes.
void mutate_protobuf(std::string& message, Random& random);

inline constexpr std::string_view kTextWords[] = {"float",
                                                  "int64",
                                                  "string",
                                                  "float6e2m3",
                                                  "uint2",
                                                  "int4",
                                                  "bfloat16",
                                                  "complex128",
                                                  "seq(",
                                                  "map(int64, ",
                                                  "optional(",
                                                  "sparse_tensor(",
                                                  "opaque(",
                                                  "[",
                                                  "]",
                                                  "[]",
                                                  "[?]",
                                                  "[N]",
                                                  "[0]",
                                                  "{",
                                                  "}",
                                                  "<",
                                                  ">",
                                                  "(",
                                                  ")",
                                                  "=>",
                                                  "=",
                                                  ",",
                                                  ":",
                                                  "@",
                                                  "\"\"",
                                                  "\"\\\"",
                                                  "-inf",
                                                  "nan",
                                                  "1e400",
                                                  "9223372036854775808",
                                                  "-9223372036854775808",
                                                  "4611686018427387904",
                                                  "#: data \"",
                                                  "#: doc_string \"x\"\n",
                                                  "#: metadata \"k\" \"v\"\n",
                                                  "#: quantization \"t\"\n",
                                                  "#: denotation \"D\"\n",
                                                  "floats",
                                                  "ints",
                                                  "tensor",
                                                  "graph",
                                                  "type_proto",
                                                  "ir_version: 10",
                                                  "opset_import: [\"\" : 20]",
                                                  "[\"location\": \"x\", \"offset\": \"1\"]",
                                                  "If",
                                                  "Constant",
                                                  "then_branch",
                                                  "..."};

}  // namespace assay::fuzz
