// Inputs of models whose speed is measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/tensor.h"
#include "bench/shapes.h"

namespace assay::bench {

/// By input: the file with its data.
using InputFiles = std::vector<std::pair<std::string, std::string>>;

/// Reads `NAME:FILE`, split at the last colon, the name perhaps in single quotes; `words` hold one or,
/// between commas, several. Throws Error (kInvalidArgument) naming the option.
InputFiles parse_input_files(std::string_view option, const std::vector<std::string>& words);

/// The shapes of a run with the elements of inputs that accept them (takes_elements()) and that have a file
/// but no entry in `run`: the engine's build depends on them. Throws Error (kInvalidArgument) for a file
/// of another size than the input.
ShapeSet with_elements_of_files(ShapeSet run, const std::vector<TensorInfo>& inputs, const InputFiles& files);

/// Throws Error as make_feed() does, without reading any file: kNotFound for a file of no input or one that
/// is missing, kInvalidArgument for one of another size than the input.
void check_files(const std::vector<InputCase>& cases, const InputFiles& files);

/// Data for every input, in order: from its file, which holds only the elements, as in memory; given
/// elements; else random ones, the same in every process: floats between -1 and 1, integers 0
/// or 1, so that they serve as flags and as indices, empty strings. Throws Error: kNotFound for a file of no
/// input, kInvalidArgument for one of another size than the input.
std::vector<Tensor> make_feed(const std::vector<InputCase>& cases, const InputFiles& files);

}  // namespace assay::bench
