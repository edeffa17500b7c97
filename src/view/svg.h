// SVG images, and names of image files.
#pragma once

#include <string>
#include <string_view>

#include "view/image.h"

namespace assay {

/// Text for XML: the five special characters escaped, forbidden ones as `?`.
std::string xml_text(std::string_view text);

/// A file name that is valid on any file system and safe in shells and pages: path separators, quotes, `<`
/// and the like become `_`, control characters are spelled out. A title with more of these than `/`, or one
/// that makes the name longer than 200 bytes, is truncated and gets a hash of the whole.
/// `extension`: `.svg`.
std::string picture_file_name(std::string_view title, std::string_view extension);

/// A drawing in pixels, from the top left corner.
class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  Svg(double width, double height);
  /// An image of pixels with hard edges, stretched over the rectangle; the tool tip is shown under the
  /// pointer.
  void image(double x, double y, double width, double height, const Image& image, std::string_view tool_tip);
  /// Text whose baseline is at y.
  void text(double x, double y, double size, Anchor anchor, std::string_view text);
  void line(double x1, double y1, double x2, double y2);
  /// The complete file.
  std::string finish();

 private:
  std::string out_;
};

}  // namespace assay
