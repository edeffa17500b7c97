#include "compare/validate.h"

namespace assay {

ValidationResult validate_output(const std::string& runner, const std::string& name, const Tensor& output,
                                 const ValidateOptions& options) {
  ValidationResult result{.runner = runner, .output = name, .summary = {}};
  if (output.dtype() == DType::kString || is_complex(output.dtype())) return result;
  const TensorNumbers numbers(output);
  const Statistics s = statistics(numbers);
  result.summary = ArraySummary{runner, name, output.dtype(), numbers.kind(), output.shape(), s};
  result.has_nan = options.check_nan && s.has_nan();
  result.has_non_finite = options.check_inf && !s.all_finite();
  return result;
}

}  // namespace assay
