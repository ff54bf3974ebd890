"""axe-core, which finds faults of accessibility: fetched by npm, and known by its hash."""

import hashlib
import subprocess
import tarfile
from base64 import b64encode

PACKAGE = "axe-core@4.14.0"
INTEGRITY = (
    "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
)
"""The SHA-512 of the package: nothing else is ever run."""


def axe_script(folder):
    """Return the script as text."""
    command = ["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder, PACKAGE]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=300)
    (package,) = folder.glob("*.tgz")
    digest = hashlib.sha512(package.read_bytes()).digest()
    assert b64encode(digest).decode() == INTEGRITY
    with tarfile.open(package) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def serious(tab, script):
    """Return the serious and critical faults of a page, each with the first place of it."""
    tab.evaluate(f"{script};0")
    found = tab.evaluate("axe.run().then(it => it.violations)")
    return [
        (each["id"], each["nodes"][0]["html"])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
