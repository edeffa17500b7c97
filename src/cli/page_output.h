// Where a page goes: to a file, or to this machine's browsers.
#pragma once

#include <functional>
#include <string>

#include "cli/args.h"
#include "view/page.h"

namespace assay::cli {

/// Writes the page into a sink.
using WritePage = std::function<void(const PageSink&)>;

constexpr int64_t kDefaultPagePort = 8000;
/// The port that an option says, or the default. Throws Error for one that is none.
int page_port(const ParsedArgs& args, const char* option);
/// The file appears whole or not at all.
void save_page(const std::string& path, const WritePage& write);
/// Serves the page until an interrupt. `option`: the one for the port, for errors. `token`: what its path
/// begins with; empty: any user of this machine may see it.
void serve_page(const WritePage& write, int port, const char* option, const std::string& token);

}  // namespace assay::cli
