#include "console/failure.h"

#include <exception>
#include <new>

#include "base/log.h"
#include "base/memory_limit.h"

namespace assay {

bool report_exception() {
  try {
    throw;
  } catch (const log::LoggedError&) {
    return true;
  } catch (const ExpectedError& e) {
    const log::Indent indent(e.indentation() - log::Indent::levels());
    log::report_critical("{}", e.report());
    return true;
  } catch (const Error& e) {
    log::report_critical("{}", e.what());
  } catch (const std::bad_alloc&) {
    log::report_critical("{}", kOutOfMemory);
  } catch (const std::exception& e) {
    log::report_critical("Internal error: {}", e.what());
  }
  return false;
}

}  // namespace assay
