// Rules shared by evaluations and other parts of work over a data set: whether two belong together, and
// the samples that both cover.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "assay/error.h"
#include "eval/ranges.h"

namespace assay::eval {

/// The nouns of errors.
struct CoverageWords {
  std::string_view kind;    ///< of work that both are parts of
  std::string_view sample;  ///< in the plural
  std::string_view data;    ///< of a loader
};

/// Part has `identity`, which has a difference(), `samples`, `stream` and `covered`. Throws Error
/// (kInvalidArgument) for parts of something else, of other data, and that cover the same.
template <typename Part>
void require_together(const Part& a, const Part& b, const CoverageWords& words) {
  if (const std::string d = difference(a.identity, b.identity); !d.empty())
    fail(ErrorCode::kInvalidArgument, "they are not of the same {}: {}", words.kind, d);
  require(!a.samples || !b.samples || *a.samples == *b.samples, ErrorCode::kInvalidArgument,
          "they are not of the same data: there are {} {}, and {}", a.samples.value_or(0), words.sample,
          b.samples.value_or(0));
  require(
      !a.stream || !b.stream || *a.stream == *b.stream, ErrorCode::kInvalidArgument,
      "the loader gave them different {0}, or in another order: one has read {0} with the digest {1:016x}, "
      "and the other {2:016x}",
      words.data, a.stream.value_or(0), b.stream.value_or(0));
  const Ranges both = a.covered.common(b.covered);
  require(both.empty(), ErrorCode::kInvalidArgument, "both cover the {} {}", words.sample, both.text());
}

/// Of parts that belong together.
template <typename Part>
void take_coverage(Part& to, const Part& other) {
  to.identity.model_name = std::min(to.identity.model_name, other.identity.model_name);
  if (!to.samples) to.samples = other.samples;
  if (!to.stream) to.stream = other.stream;
  to.covered.add(other.covered);
}

}  // namespace assay::eval
