// The options of `assay bench`, in TensorRT's spelling under the name `trtexec`.
#pragma once

#include "bench/options.h"
#include "cli/args.h"
#include "cli/command.h"

namespace assay::cli {

/// Started through a link named `trtexec`: the program is `bench` alone, in TensorRT's spelling.
inline bool is_trtexec(const Invocation& invocation) { return invocation.program == "trtexec"; }

/// Both spellings of every option; under the name `trtexec`, --threads is a flag.
void add_bench_options(ArgParser& parser, bool as_trtexec);
/// Logs a line for each option that has no effect. Throws Error naming the option.
bench::Options read_bench_options(const ParsedArgs& args, bool as_trtexec);

/// A number, decimals allowed, followed by B, K, M or G, also as KB or KiB: powers of two, case-insensitive.
/// Without suffix the unit is `unit` bytes. Throws Error (kInvalidArgument) naming the option.
int64_t parse_size(const std::string& option, const std::string& text, int64_t unit);

}  // namespace assay::cli
