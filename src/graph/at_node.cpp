#include "graph/at_node.h"

#include <new>
#include <stdexcept>

namespace assay {

void rethrow_at_node(const std::string& label) {
  const std::string place = "at node " + label;
  try {
    throw;
  } catch (Error& e) {
    e.add_context(place);
    throw;
  } catch (const std::bad_alloc&) {
    Error e(ErrorCode::kUnsupported, "there is not enough memory for what the node asks for");
    throw e.add_context(place).set_remedy("The option --memory-limit changes how much there may be.");
  } catch (const std::length_error&) {
    throw Error(ErrorCode::kInvalidModel, "the node asks for a list that is longer than any memory")
        .add_context(place);
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kInternal, fmt::format("unexpected failure: {}", e.what())).add_context(place);
  }
}

}  // namespace assay
