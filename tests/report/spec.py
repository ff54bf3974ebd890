"""What a picture says, read back for tests."""

import xml.etree.ElementTree as ET


def places(value, wanted, path=()):
    """Yield the paths at which a text occurs in a specification, as key or inside a value."""
    match value:
        case dict():
            for key, each in value.items():
                if wanted in key:
                    yield (*path, key)
                yield from places(each, wanted, (*path, key))
        case list() | tuple():
            for number, each in enumerate(value):
                yield from places(each, wanted, (*path, number))
        case str() if wanted in value:
            yield path


def texts(svg):
    """Return the texts of an SVG, as a parser reads them."""
    space = "{http://www.w3.org/2000/svg}"
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter(f"{space}text")]
