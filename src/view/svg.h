// Scalable pictures with text, and the names of picture files.
#pragma once

#include <string>
#include <string_view>

#include "view/image.h"

namespace assay {

/// Text that may stand in XML: the five special characters escaped, what XML forbids as `?`.
std::string xml_text(std::string_view text);

/// A file name that any file system takes and no shell or page acts on: path separators, quotes, `<` and the
/// like become
/// `_`, control characters are spelled out. A title that held more of these than `/`, or that makes the name
/// longer than 200 bytes, is cut to that and marked with a hash of the whole. `extension`: `.svg`.
std::string picture_file_name(std::string_view title, std::string_view extension);

/// A drawing in pixels, from the top left corner.
class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  Svg(double width, double height);
  /// A picture of pixels with hard edges, stretched over the rectangle; the tool tip is shown under the
  /// pointer.
  void image(double x, double y, double width, double height, const Image& image, std::string_view tool_tip);
  /// Text whose baseline is at y.
  void text(double x, double y, double size, Anchor anchor, std::string_view text);
  void line(double x1, double y1, double x2, double y2);
  /// The whole file.
  std::string finish();

 private:
  std::string out_;
};

}  // namespace assay
