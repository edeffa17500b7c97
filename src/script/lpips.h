// LPIPS, the learned perceptual distance of images, by the packages torch and lpips of the user's
// interpreter.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "assay/tensor.h"
#include "script/child.h"

namespace assay::script {

/// Not thread-safe.
class Lpips {
 public:
  /// Starts the interpreter (find_interpreter()) and creates the network. Throws Error (kInvalidArgument)
  /// naming what is missing.
  explicit Lpips(const std::string& interpreter = {});

  /// The distance: 0 for equal images, about 1 for unrelated ones: of shape [channels, height, width],
  /// [height, width, channels] with at most 3 channels, or several images as [images, ...], of which it is
  /// the mean. Values in [-1, 1], [0, 1] or [0, 255], taken to be the same for both. Returns a sentence if
  /// there is no distance.
  std::variant<double, std::string> distance(const Tensor& first, const Tensor& second);

 private:
  std::unique_ptr<Child> child_;
};

}  // namespace assay::script
