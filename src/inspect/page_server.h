// One page over HTTP, for a browser on this machine.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace assay {

/// Listens at 127.0.0.1 and answers GET and HEAD of `/` and `/index.html` with the page, everything else with
/// an error. A request has to name this machine in its Host (127.0.0.1 or localhost, with any port, as behind
/// a tunnel): a page of another site whose name was made to point here gets nothing. Requests are bounded in
/// length, connections in number and time, so that none keeps others from being answered.
class PageServer {
 public:
  /// `port` 0: any free one. Throws Error (kIo) when the port cannot be had.
  PageServer(std::string page, int port);

  int port() const { return port_; }
  /// Answers until there is something to read from `stop`.
  void serve(int stop);

 private:
  std::string page_;
  Descriptor listener_;
  int port_ = 0;
};

}  // namespace assay
