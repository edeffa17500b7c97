#include "cli/page_output.h"

#include <fmt/format.h>

#include <optional>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/interrupt_pipe.h"
#include "base/log.h"
#include "inspect/page_server.h"

namespace assay::cli {

int page_port(const ParsedArgs& args, const char* option) {
  const int64_t port = args.integer(option).value_or(kDefaultPagePort);
  require(port >= 0 && port <= 65535, ErrorCode::kInvalidArgument,
          "{}: {} is no port; they go from 0 to 65535", option, port);
  return static_cast<int>(port);
}

void save_page(const std::string& path, const WritePage& write) {
  AtomicFile file(path);
  write([&](std::string_view piece) { file.write(piece); });
  file.commit();
}

void serve_page(const WritePage& write, int port, const char* option, const std::string& token) {
  ServedPage page{.page = {}, .token = token};
  write([&](std::string_view piece) { page.page += piece; });
  std::optional<PageServer> server;
  try {
    server.emplace(std::move(page), port);
  } catch (Error& e) {
    e.set_remedy(fmt::format("Choose another port with {}; 0 takes any that is free.", option));
    throw;
  }
  const InterruptPipe interrupt;
  log::info("Viewer available at {}  (press Ctrl+C to exit)", server->address());
  log::flush();
  server->serve(interrupt.fd());
}

}  // namespace assay::cli
