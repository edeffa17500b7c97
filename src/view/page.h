// The page that shows models and reports in a browser. It is self-contained: page.html with its style and
// script (page/*), and data as JSON. It may not load anything.
#pragma once

#include <functional>
#include <string_view>

#include "base/json_writer.h"

namespace assay {

/// Takes the page piece by piece.
using PageSink = std::function<void(std::string_view)>;
/// Writes one JSON value.
using WritePagePart = std::function<void(JsonWriter&)>;

/// The parts that a page shows; one that is empty is not there.
struct PageParts {
  WritePagePart model = {};   ///< a graph, as docs/guide/viewer.md describes it
  WritePagePart report = {};  ///< write_report()
  WritePagePart other = {};   ///< a second graph, next to the first
};

void write_page(const PageParts& parts, const PageSink& sink);

}  // namespace assay
