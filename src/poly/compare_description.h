// Comparison and post-processing functions as data, for files and programs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/comparator.h"

namespace assay::poly {

/// A CompareFunc, except custom ones of a program.
struct CompareDescription {
  /// simple, indices, l2, cosine_similarity, psnr, snr, perceptual_metrics; script.
  std::string function = {};
  std::string script = {};
  ByOutput<Number> atol = {}, rtol = {};
  ByOutput<std::string> check_error_stat = {};
  ByOutput<Number> error_quantile = {};
  ByOutput<int64_t> index_tolerance = {};
  ByOutput<Number> threshold = {};  ///< of the functions with one number
  bool check_shapes = true, infinities_compare_equal = false;
};

/// A PostprocessFunc, except custom ones of a program.
struct PostprocessDescription {
  std::string script = {};
  std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> top_k = {};
};

/// Throw Error (kUnsupported) for a custom function.
CompareDescription describe(const CompareFunc& function);
PostprocessDescription describe(const PostprocessFunc& function);
/// Throw Error for a function that does not exist, and as CompareFunc and PostprocessFunc do.
CompareFunc make_function(const CompareDescription& description);
PostprocessFunc make_function(const PostprocessDescription& description);

}  // namespace assay::poly
