"""Classes to derive from."""

from recorded.enums import APILanguage


class InterfaceInfo:
    def __init__(self, kind="", major=1, minor=0):
        self.kind, self.major, self.minor = kind, major, minor


class IVersionedInterface:
    """What interfaces have that can be extended."""
    api_language = APILanguage.PYTHON
    interface_info = property(lambda self: InterfaceInfo(type(self).__name__))


def _missing(self, name):
    return NotImplementedError(f"{type(self).__name__} must define {name}.")


class IProfiler:
    """report_layer_time(layer_name, ms) gets the times of a run."""

    def __init__(self):
        pass

    def report_layer_time(self, layer_name, ms):
        raise _missing(self, "report_layer_time(self, layer_name, ms)")


class Profiler(IProfiler):
    """Prints the times of runs."""

    def report_layer_time(self, layer_name, ms):
        print(f"{layer_name}: {ms}ms")


class IProgressMonitor:
    """phase_start, step_complete and phase_finish tell how far a build is; step_complete's False ends it."""

    def __init__(self):
        pass

    def phase_start(self, phase_name, parent_phase, num_steps):
        raise _missing(self, "phase_start(self, phase_name, parent_phase, num_steps)")

    def step_complete(self, phase_name, step):
        raise _missing(self, "step_complete(self, phase_name, step)")

    def phase_finish(self, phase_name):
        raise _missing(self, "phase_finish(self, phase_name)")


class IOutputAllocator:
    """reallocate_output or reallocate_output_async gives memory for an output, notify_shape gets its shape."""

    def __init__(self):
        pass

    def reallocate_output(self, tensor_name, memory, size, alignment):
        raise _missing(self, "reallocate_output(self, tensor_name, memory, size, alignment)")

    def notify_shape(self, tensor_name, shape):
        raise _missing(self, "notify_shape(self, tensor_name, shape)")


class IErrorRecorder:
    """Gets errors: report_error(code, desc), and answers what it got."""
    MAX_DESC_LENGTH = 127

    def __init__(self):
        pass

    def num_errors(self):
        raise _missing(self, "num_errors(self)")

    def get_error_code(self, arg0):
        raise _missing(self, "get_error_code(self, index)")

    def get_error_desc(self, arg0):
        raise _missing(self, "get_error_desc(self, index)")

    def has_overflowed(self):
        raise _missing(self, "has_overflowed(self)")

    def clear(self):
        raise _missing(self, "clear(self)")

    def report_error(self, arg0, arg1):
        raise _missing(self, "report_error(self, code, desc)")


class IDebugListener:
    """process_debug_tensor gets the intermediate values that were asked for."""

    def __init__(self):
        pass

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        raise _missing(self, "process_debug_tensor(self, addr, location, type, shape, name, stream)")


class IGpuAllocator(IVersionedInterface):
    """Can be given to builders, runtimes and contexts, which do not call it: memory here is the host's."""

    def __init__(self):
        pass


class IGpuAsyncAllocator(IGpuAllocator):
    pass


class IStreamReader:
    """read(size) gives the next bytes of a plan."""

    def __init__(self):
        pass

    def read(self, size):
        raise _missing(self, "read(self, size)")


class IStreamReaderV2:
    """read(num_bytes, stream) gives the next bytes of a plan; seek(offset, where)."""

    def __init__(self):
        pass

    def read(self, num_bytes, stream):
        raise _missing(self, "read(self, num_bytes, stream)")

    def seek(self, offset, where):
        raise _missing(self, "seek(self, offset, where)")


class IStreamWriter:
    """write(data) gets the bytes of a plan, and says how many it took."""

    def __init__(self):
        pass

    def write(self, data):
        raise _missing(self, "write(self, data)")


class IAlgorithmSelector:
    """select_algorithms(context, choices) gives the indices of what is allowed; report_algorithms(contexts, choices)."""

    def __init__(self):
        pass

    def select_algorithms(self, context, choices):
        return list(range(len(choices)))

    def report_algorithms(self, contexts, choices):
        return None
