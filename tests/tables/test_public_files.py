"""Public lists are read by the settings of sources, and say which they need."""

from fractions import Fraction

import pytest

from perrecord.errors import InputError
from perrecord.tables.keys import Keys
from perrecord.tables.lookups import Lookup
from perrecord.tables.reading import File
from perrecord.tables.sizes import PublicSizes

TEXT = 'county,size\nCôte-d\'Or,"1.5"\n"Nièvre, est",2\n'
SETTINGS = [
    {},
    {"separator": ";"},
    {"separator": "\t"},
    {"encoding": "latin-1"},
    {"encoding": "utf-16"},
    {"encoding": "utf-16-le"},
    {"separator": "|", "encoding": "windows-1252", "quote": "'"},
]
READERS = {
    "keys": lambda given: Keys.read(given, "county"),
    "a lookup": lambda given: Lookup(given, on="county").table,
    "a scale": lambda given: PublicSizes(given, "emp").keys,
}


def written(path, separator=",", encoding="utf-8", quote='"'):
    """Write the list as settings say, and return its path."""
    fields = [["county", "size"], ["Côte-d'Or", "1.5"], ["Nièvre, est", "2"]]
    lines = [
        separator.join(quote + each.replace(quote, quote * 2) + quote for each in line)
        for line in fields
    ]
    path.write_bytes("\n".join(lines).encode(encoding))
    return path


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_list_is_the_same_however_it_is_written(tmp_path, settings, reader):
    """Separators, encodings and quotes change nothing once they are said."""
    plain = READERS[reader](written(tmp_path / "plain.csv"))
    other = written(tmp_path / "other.csv", **settings)
    assert READERS[reader](File(other, **settings)) == plain


def test_tabs_need_not_be_said_where_the_name_says_them(tmp_path):
    """As in a source."""
    path = written(tmp_path / "keys.tsv", separator="\t")
    assert Keys.read(path) == Keys.read(written(tmp_path / "plain.csv"))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("settings", "typed"),
    [
        ({"separator": ";"}, r'separator: ";" beside its name .* File\("x.csv", separator=";"\)'),
        ({"separator": "\t"}, r'separator: "\\t" beside its name'),
        ({"encoding": "latin-1"}, r'such as \{\w+: "x.csv", encoding: "windows-1252"\}'),
        ({"encoding": "utf-16"}, 'encoding: "utf-16" beside its name'),
    ],
)
def test_a_list_that_needs_settings_says_which(tmp_path, settings, typed, reader):
    """Whether its header or only a later line gives it away."""
    with pytest.raises(InputError, match=typed):
        READERS[reader](written(tmp_path / "x.csv", **settings))


def test_sizes_may_have_decimal_commas(tmp_path):
    """Lists without numbers have no decimal sign to say."""
    path = tmp_path / "scale.csv"
    path.write_text("county;emp\nKent;1.200,5\nYork;35\n", "utf-8")
    with pytest.raises(InputError, match=r"a size of the scale is '1,200\.5'"):
        PublicSizes(File(path, separator=";", decimal=","), "emp")
    path.write_text("county;emp\nKent;1200,5\nYork;35\n", "utf-8")
    sizes = PublicSizes(File(path, separator=";", decimal=","), "emp")
    assert sizes.numbers == (Fraction(2401, 2), Fraction(35))
    with pytest.raises(InputError, match="decimal is given"):
        Keys.read(File(path, separator=";", decimal=","))


def test_settings_that_mean_nothing_are_refused(tmp_path):
    """A list has no sheets, Parquet no separators."""
    path = written(tmp_path / "keys.csv")
    with pytest.raises(InputError, match="sheet is given"):
        Keys.read(File(path, sheet="x"))
    with pytest.raises(InputError, match="separator is given, and a Parquet file has none"):
        Keys.read(File(path.rename(tmp_path / "keys.parquet"), separator=";"))
