"""A stand-in of assay's for PyCUDA: its device is the host's memory and processors."""

__assay__ = True
VERSION = (2024, 1)
VERSION_STATUS = "+assay"
VERSION_TEXT = "2024.1+assay"
