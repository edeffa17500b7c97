from polygraphy.mod.exporter import deprecate, export, export_deprecated_alias, warn_deprecated  # noqa: F401
from polygraphy.mod.importer import LATEST_VERSION, autoinstall, import_from_script, lazy_import  # noqa: F401
from polygraphy.mod.util import version  # noqa: F401
