"""Switches; none changes anything here."""

INTERNAL_CORRECTNESS_CHECKS = False
AUTOINSTALL_DEPS = False
USE_TENSORRT_RTX = False
