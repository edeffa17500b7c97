// Serves one page over HTTP, for a browser on this machine.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace assay {

/// A page, and who may see it.
struct ServedPage {
  std::string page;
  /// The first part of its path; empty: any user of this machine may see it.
  std::string token = {};

  /// `/`, or `/TOKEN/`.
  std::string path() const { return token.empty() ? "/" : "/" + token + "/"; }
};

/// 128 random bits, in hexadecimal. Throws Error (kIo).
std::string random_token();

/// Listens at 127.0.0.1 and answers GET and HEAD of the page's path, and of `index.html` there, with the
/// page, everything else with an error. A request has to name this machine in its Host header (127.0.0.1 or
/// localhost, with any port, as with a tunnel), which prevents DNS rebinding. Requests are limited in length,
/// connections in number and time, so that none blocks others.
class PageServer {
 public:
  /// `port` 0: any free one. Throws Error (kIo) when the port is not available.
  PageServer(ServedPage page, int port);

  /// Where the page is.
  std::string address() const;
  /// Serves until `stop` is readable.
  void serve(int stop);

 private:
  ServedPage page_;
  Descriptor listener_;
  int port_ = 0;
};

}  // namespace assay
