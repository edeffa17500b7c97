// Formats the elements of one array; tensor/print.cpp is the only user.
#pragma once

#include <string>
#include <vector>

#include "assay/tensor.h"
#include "tensor/print_options.h"

namespace assay::internal {

/// The texts of a tensor's elements in order. All of them determine widths and notation.
std::vector<std::string> element_texts(const Tensor& t, const PrintOptions& options);

/// str() of the only element of a tensor of rank 0.
std::string scalar_text(const Tensor& t);

}  // namespace assay::internal
