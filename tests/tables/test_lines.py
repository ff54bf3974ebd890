"""Where the records of a CSV file end: one rule, whatever its size and the number of threads."""

import csv
import gzip
import io
import random

import pytest

from perrecord.errors import SourceError
from perrecord.tables import lines, text_files
from perrecord.tables.lines import Lines, lines_of
from perrecord.tables.sources import open_source


def a_file(rng):
    """Return the bytes of a CSV file, some of whose fields hold line ends, quoted or not."""
    end = rng.choice(["\n", "\r\n"])
    count = rng.choice([1, 4, 12, 200])
    rows = []
    for number in range(count):
        text = "v" * rng.randrange(30)
        quoted = rng.random() < 0.2
        if rng.random() < 2 / count:
            odd = rng.choice(["\r", "\r\n", "\n", "\r9,y", "\n9,y", "\r\n9,y", '"', '""', ","])
            place = rng.randrange(len(text) + 1)
            text, quoted = text[:place] + odd + text[place:], rng.random() < 0.7
        if quoted:
            text = '"' + (text if rng.random() < 0.1 else text.replace('"', '""')) + '"'
        rows.append(f"{number},{text}" + (end if rng.random() > 0.2 / count else "\r"))
    whole = "a,b" + end + "".join(rows)
    return (whole if rng.random() < 0.8 else whole.rstrip("\r\n")).encode()


def meant(data):
    """Return the records by Python's reader, or None where a line's end is not clear."""
    text = data.decode()
    ends = {"\r\n" if line.endswith("\r\n") else "\n" for line in _logical(text)}
    if len(ends) > 1:
        return None
    try:
        rows = list(csv.reader(io.StringIO(text, newline="\n"), strict=True))
    except csv.Error:
        return None
    if any(len(row) not in (0, 2) for row in rows):
        return None
    return [tuple(each or None for each in row) for row in rows[1:] if row]


def _logical(text):
    """Yield the lines, a line end inside a quoted field being part of one; field by field."""
    start, place, field = 0, 0, True
    while place < len(text):
        if field and text[place] == '"':
            place += 1
            while place < len(text) and not (
                text[place] == '"' and text[place + 1 : place + 2] != '"'
            ):
                place += 2 if text[place] == '"' else 1
        elif text[place] == "\n":
            yield text[start : place + 1]
            start = place + 1
        field = place < len(text) and text[place] in ",\n"
        place += 1


@pytest.mark.parametrize("seed", [*range(60)])
def test_records_are_never_made_or_lost(seed, tmp_path, monkeypatch):
    """In one piece, and in pieces so small that several threads read them: right, or refused."""
    rng = random.Random(seed)
    data = a_file(rng)
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    expected = meant(data)
    found = []
    for longest, chunk in ((16_000_000, 1 << 22), (100, 50)):
        monkeypatch.setattr(text_files, "_LONGEST_LINE", longest)
        monkeypatch.setattr(text_files, "_BUFFER", 2 * longest)
        monkeypatch.setattr(lines, "_CHUNK", chunk)
        try:
            with open_source(path) as engine:
                rows = engine.frame(f"SELECT * FROM {engine.relation}").to_pylist()
                found.append([tuple(row.values()) for row in rows])
        except SourceError:
            found.append(None)
    assert found[0] in (None, expected)
    assert found[1] in (None, expected)


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,x\r9,y\n2,z\n",
        b"a,b\n1,x\ry\n",
        b"a,b\n1,x\r\r\n",
        b"a,b\n\r1,x\n",
        b"a,b\n1,x\n2,y\r",
        b"a,b\r1,x\r2,y\r",
        b"a,b\r1,x\n2,y\r",
        b"a,b\r\n1,x\n2,y\r\n",
        b'a,b\n1,x"\r9,y\n',
        b'a,b\n1,"x\n',
        b'a,b\r\n1,"x\ny"\r\n2,z"z\n',
    ],
)
def test_a_line_end_that_is_not_clear_is_refused(data, tmp_path):
    """A carriage return outside quotes, mixed line ends, a quote that is not closed."""
    (tmp_path / "t.csv").write_bytes(data)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(data))
    for name in ("t.csv", "t.csv.gz"):
        with pytest.raises(SourceError, match="expected every line to end in LF"):
            open_source(tmp_path / name)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a,b\n1,x\n\n2,y", Lines(4, 1, False)),
        (b"a,b\r\n1,x\r\n\r\n", Lines(3, 1, False)),
        (b'\xef\xbb\xbf"a\nz",b\n1,x\n', Lines(2, 0, True)),
        (b'a,b\n1,"x\r9"",y"\n', Lines(2, 0, True)),
        (b'a,b\n1,5" pipe\n2,"a\n\nb"\n', Lines(3, 0, True)),
    ],
)
def test_lines_are_counted_from_bytes(data, expected, tmp_path):
    """Blank ones apart; a field in quotes may hold line ends."""
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    assert lines_of(path, ",") == expected


def test_records_that_the_engine_loses_are_noticed(tmp_path, monkeypatch):
    """Whatever it is: the file is refused when the engine finds another number of them."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n")
    monkeypatch.setattr(text_files, "lines_of", lambda *_: Lines(4, 0, False))
    with pytest.raises(SourceError, match="not as many as the records"):
        open_source(path)


def test_a_carriage_return_in_quotes_is_text(tmp_path):
    """One record, with the character in it."""
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,"x\r9,y"\n')
    with open_source(path) as engine:
        rows = engine.frame(f"SELECT * FROM {engine.relation}").to_pylist()
    assert rows == [{"a": "1", "b": "x\r9,y"}]
