"""What goes to the user's logger and error recorder."""

from recorded.enums import ErrorCodeTRT, Severity


def error_text(error):
    text = str(error)
    return text if text else type(error).__name__


def report(owner, error, code=ErrorCodeTRT.INVALID_ARGUMENT, severity=Severity.ERROR):
    """To the logger of `owner`, and an error to its recorder."""
    text = error if isinstance(error, str) else error_text(error)
    recorder = getattr(owner, "error_recorder", None)
    if recorder is not None and severity <= Severity.ERROR:
        recorder.report_error(code, text)
    logger = owner._logger
    if logger is not None:
        logger.log(severity, text)


def told(owner, failed, code=ErrorCodeTRT.INVALID_ARGUMENT):
    """A decorator's work for one call: what the library refuses is reported, and `failed` is the answer."""

    def wrap(call):
        import assay
        from assay.compat._memory import DeviceError
        from recorded.errors import RecordingError

        try:
            return call()
        except (assay.Error, DeviceError, RecordingError) as error:
            report(owner, error, code)
            return failed

    return wrap


def require_logger(logger):
    from recorded.builder import ILogger

    if not isinstance(logger, ILogger):
        raise TypeError(f"a tensorrt.ILogger is needed, as tensorrt.Logger(), not {logger!r}")
    return logger
