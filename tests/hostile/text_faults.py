"""Specs that are no YAML, or YAML of the kind that loaders choke on: bombs, cycles, tags, bytes."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import yaml

from tests.hostile import bases
from tests.hostile.cases import SPEC, Builder, Case, spec_case

_LAUGHS = "a0: &a0 [lol, lol]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)

WHOLE: dict[str, bytes] = {
    "an empty file": b"",
    "blanks": b" \n\n  \n",
    "comments alone": b"# nothing\n# at all\n",
    "NUL bytes alone": b"\0" * 1000,
    "a billion laughs": _LAUGHS.encode() + b"title: *a29\n",
    "a cycle": b"title: x\nsource: &a [*a]\n",
    "a cycle of mappings": b"&a {title: *a, source: *a}\n",
    "a cyclic key": b"? &a [*a]\n: x\n",
    "an alias of nothing": b"title: *none\n",
    "brackets, deep": b"title: " + b"[" * 100_000 + b"]" * 100_000,
    "braces, deep": b"{a: " * 60_000,
    "a list of lists, deep": b"- " * 100_000 + b"x\n",
    "mappings, deep": b"? " * 100_000 + b"x\n",
    "indented, deep": b"".join(b" " * n + b"a:\n" for n in range(600)),
    "quotes that never close": b"title: '" + b"x" * 200_000,
    "one long line": b"title: " + b"x" * 249_000,
    "more than a spec may hold": b"# " + b"x" * 10_000_000 + b"\ntitle: x\n",
    "a million queries": b"title: x\nqueries:\n" + b"- {name: q}\n" * 1_000_000,
    "thousands of anchors": b"".join(b"k%d: &a%d x\n" % (n, n) for n in range(9_000)),
    "a Python object": b"title: !!python/object/apply:os.system ['touch hacked']\nsource: x\n",
    "a Python name": b"title: !!python/name:os.system\n",
    "a tag of its own": b"title: !secret x\n",
    "a set": b"--- !!set {? a, ? b}\n",
    "a binary": b"title: !!binary aGVsbG8=\n",
    "a timestamp": b"2026-11-01\n",
    "a number": b"42\n",
    "a list": b"- title: x\n- source: y\n",
    "text": b"title\n",
    "two documents": b"title: x\n---\ntitle: y\n",
    "a document that ends": b"title: x\n...\n... \nsource: x\n",
    "a directive": b"%YAML 9.9\n---\ntitle: x\n",
    "a directive of nobody": b"%TAG ! tag:x,2000:\n---\n!a {title: x}\n",
    "a merge key": b"base: &b {title: x}\n<<: *b\nsource: x\n",
    "a merge key without an anchor": b"<<: {title: x}\nsource: x\nbudget: {rho: 1}\nqueries: []\n",
    "JSON that is cut": b'{"title": "x", "source": ',
    "HTML": b"<!doctype html>\n<title>not found</title>\n",
    "a ZIP file": b"PK\x03\x04\x14\0\0\0" + bytes(range(256)),
    "a Parquet file": b"PAR1" + bytes(range(256)) + b"PAR1",
    "a key of nothing": b": x\n",
    "a key that is a list": b"? [a, b]\n: x\ntitle: x\n",
    "an escape in a key": b'"\\e[31mtitle": x\n',
    "a long key": b"? " + b"k" * 200_000 + b"\n: x\n",
    "an escape that is none": b'title: "\\q"\n',
    "a character beyond Unicode": b'title: "\\U00110000"\n',
    "half a character": b'title: "\\ud800"\nsource: "\\udfff"\n',
    "percent signs": b"title: %x\n",
    "at signs": b"title: @x\n",
    "backticks": b"title: `x`\n",
    "colons": b"title: a: b: c\n",
    "only dashes": b"---\n---\n---\n",
    "a tab": b"title:\tx\n\tsource: y\n",
}
"""Whole files, by what they are."""


def _truncated(text: bytes, random: Random) -> bytes:
    return text[: random.randrange(len(text))]


def _flipped(text: bytes, random: Random) -> bytes:
    changed = bytearray(text)
    for _ in range(random.choice([1, 1, 2, 5, 50])):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _one_bit(text: bytes, random: Random) -> bytes:
    changed = bytearray(text)
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(7)
    return bytes(changed)


def _inserted(text: bytes, random: Random) -> bytes:
    pieces = (
        *(b"\t", b"'", b'"', b"{", b"}", b"[", b"]", b":", b": ", b"- ", b"&a ", b"*a", b"!!x "),
        *(b"\0", b"\x1b", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"\xff", b"\xed\xa0\x80", b"#"),
        *(b"\r", b"\n", b"\n\n---\n", b"\n...\n", b"|\n", b">", b"%", b"@", b"`", b"? ", b"<<: "),
    )
    place = random.randrange(len(text))
    return text[:place] + random.choice(pieces) + text[place:]


def _indented(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    place = random.randrange(len(lines))
    lines[place] = random.choice([b" ", b"   ", b"\t", b"      "]) + lines[place]
    return b"\n".join(lines)


def _outdented(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    deep = [n for n, line in enumerate(lines) if line.startswith(b"  ")]
    place = random.choice(deep)
    lines[place] = lines[place][random.choice([1, 2]) :]
    return b"\n".join(lines)


def _line_lost(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    del lines[random.randrange(len(lines))]
    return b"\n".join(lines)


def _line_twice(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    place = random.randrange(len(lines))
    return b"\n".join([*lines[: place + 1], *lines[place:]])


def _lines_moved(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _quote_lost(text: bytes, random: Random) -> bytes:
    signs = [n for n, each in enumerate(text) if each in b"\"'{}[]:,"]
    place = random.choice(signs)
    return text[:place] + text[place + 1 :]


def _encoded(text: bytes, random: Random) -> bytes:
    known = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037")
    written = text.decode().replace("kind", "ärt")
    return random.choice([*(written.encode(each) for each in known), written.encode("latin-1")])


def _tagged(text: bytes, random: Random) -> bytes:
    tag = random.choice([b" !!str ", b" !!python/object:x.y ", b" &anchor ", b" !t ", b" *alias "])
    colons = [n for n in range(len(text)) if text[n : n + 2] == b": "]
    place = random.choice(colons)
    return text[: place + 1] + tag + text[place + 2 :]


_CHANGES: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut short": _truncated,
    "random bytes": _flipped,
    "one bit": _one_bit,
    "something put in": _inserted,
    "a line too far right": _indented,
    "a line too far left": _outdented,
    "a line lost": _line_lost,
    "a line twice": _line_twice,
    "lines exchanged": _lines_moved,
    "a sign lost": _quote_lost,
    "another encoding": _encoded,
    "a tag or anchor": _tagged,
}


def broken(random: Random, turn: int) -> Case:
    """Break the text of a good spec."""
    names = list(_CHANGES)
    name = names[turn % len(names)]
    base = random.choice(list(bases.SPECS))
    text = _CHANGES[name](bases.spec_text(base).encode(), random)
    is_certain = name == "another encoding" or not _is_yaml(text)
    return spec_case("broken YAML", f"{base}, {name}", base, text, random, must_refuse=is_certain)


def _is_yaml(text: bytes) -> bool:
    """Return whether this is UTF-8 and YAML whose tags and aliases are known to all."""
    try:
        yaml.safe_load(text.decode())
    except (ValueError, yaml.YAMLError):
        return False
    return True


def whole(random: Random, turn: int) -> Case:
    """Put something else altogether in place of the spec."""
    names = list(WHOLE)
    name = names[turn % len(names)]
    return spec_case("no spec at all", name, "simple", WHOLE[name], random, must_refuse=True)


def _no_file(folder: Path) -> None:
    (folder / SPEC).unlink()


def _a_folder(folder: Path) -> None:
    (folder / SPEC).unlink()
    (folder / SPEC).mkdir()


def _a_pipe(folder: Path) -> None:
    (folder / SPEC).unlink()
    os.mkfifo(folder / SPEC)


def _a_loop(folder: Path) -> None:
    (folder / SPEC).unlink()
    (folder / SPEC).symlink_to(SPEC)


def _endless(folder: Path) -> None:
    (folder / SPEC).unlink()
    (folder / SPEC).symlink_to("/dev/zero")


_PLACES = {
    "there is none": _no_file,
    "a folder": _a_folder,
    "a pipe that nobody writes to": _a_pipe,
    "a link to itself": _a_loop,
    "an endless device": _endless,
}


def no_file(random: Random, turn: int) -> Case:
    """Put no file in place of the spec."""
    name = list(_PLACES)[turn % len(_PLACES)]
    text = bases.spec_text("simple")
    return spec_case(
        "no file", name, "simple", text, random, prepare=_PLACES[name], must_refuse=True
    )


BUILDERS: dict[Builder, float] = {broken: 22, whole: 4, no_file: 2}
"""Each kind with its share of the cases."""
