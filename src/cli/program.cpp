#include "cli/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/crash_report.h"
#include "base/thread_pool.h"
#include "cli/cli.h"

namespace assay::cli {
namespace {

/// Opens /dev/null for standard streams that the caller closed: otherwise the next opened file would get
/// their descriptor and receive the log.
void open_standard_streams() {
  int fd;
  do fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace

int run_program(int argc, char** argv) {
  open_standard_streams();
  // A reader of the log that goes away (`assay run ... | head`) must not end a run that also writes files.
  std::signal(SIGPIPE, SIG_IGN);
  // A file beyond the user's limit (ulimit -f) is a write that fails, as one on a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  install_interrupt_cleanup();
  report_crashes();
  report_lost_exceptions();
  const std::vector<std::string> words(argv, argv + argc);
  const PoolScope threads(std::make_shared<ThreadPool>());
  return run_command_line(words);
}

}  // namespace assay::cli
