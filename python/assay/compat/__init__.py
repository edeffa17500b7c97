"""Modules under the names that users' scripts import, from this library.

They are in the folder ``site`` beside this file, which no import finds by itself: whoever wants them puts
``site_folder()`` first on ``sys.path``.
"""

from __future__ import annotations

from pathlib import Path


def site_folder() -> Path:
    """The folder that holds the modules; the first entry of ``sys.path`` makes them win over installed ones."""
    return Path(__file__).resolve().parent / "site"
