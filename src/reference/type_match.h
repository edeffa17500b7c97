// Checks an inferred type against a computed value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "assay/tensor.h"
#include "assay/type.h"

namespace assay {

/// Values of symbols, and of expressions of them by shape inference: sums, differences, products and
/// quotients rounded down, with parentheses.
class Symbols {
 public:
  /// Nothing when the text is not an expression over known symbols.
  std::optional<int64_t> value(std::string_view text) const;
  void bind(const std::string& symbol, int64_t value) { known_.emplace(symbol, value); }

 private:
  std::map<std::string, int64_t, std::less<>> known_;
};

/// Empty when the type allows the value; otherwise the inferred and the
/// computed type. Unknown symbols are bound to the implied values; those
/// in the type of a sequence's elements, which may vary, are ignored.
std::string contradiction(const Type& type, const Tensor& value, Symbols& symbols);

}  // namespace assay
