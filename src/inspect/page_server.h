// Serves one page over HTTP, for a browser on this machine.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace assay {

/// Listens at 127.0.0.1 and answers GET and HEAD of `/` and `/index.html` with the page, everything else with
/// an error. A request has to name this machine in its Host header (127.0.0.1 or localhost, with any port, as
/// with a tunnel), which prevents DNS rebinding. Requests are limited in length, connections in number and
/// time, so that none blocks others.
class PageServer {
 public:
  /// `port` 0: any free one. Throws Error (kIo) when the port is not available.
  PageServer(std::string page, int port);

  int port() const { return port_; }
  /// Serves until `stop` is readable.
  void serve(int stop);

 private:
  std::string page_;
  Descriptor listener_;
  int port_ = 0;
};

}  // namespace assay
