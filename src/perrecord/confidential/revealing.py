"""The one door out of `Confidential`. Who may import this is an import contract in pyproject.toml.

Noise is added behind it (`mechanisms`), exact integers are added up (`tally`), and confidential
diagnostics are computed (`evaluate`, `lab`), which are kept apart from whatever is published.
"""

from perrecord.confidential.held import Confidential, Content


def revealed(held: Confidential[Content]) -> Content:
    """Return what is confidential, as it is: no copy is made."""
    return held._content
