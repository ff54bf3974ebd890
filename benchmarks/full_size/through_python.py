"""The release from Python, in a process that is running: `python through_python.py SPEC OUT`."""

import json
import sys
import time

from perrecord.release.publish import release


def main() -> None:
    """Make the release; print the seconds it took, without starting Python."""
    began = time.perf_counter()
    release(sys.argv[1], sys.argv[2])
    print(json.dumps({"inside": time.perf_counter() - began}))


if __name__ == "__main__":
    main()
