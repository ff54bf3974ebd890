"""Values of the columns, shown of data that was declared public or drawn, or behind a marked door.

Without a door there is nobody who reads them.
"""

from threading import Lock

from perrecord.evaluate.column_values import ColumnValues, column_values
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.studio.doors import StudioDoor


class DataValues:
    """Values of the data behind a door, read once for as long as it stays the same."""

    def __init__(self, door: StudioDoor) -> None:
        self.door = door
        self._known: tuple[object, tuple[ColumnValues, ...]] | None = None
        self._lock = Lock()

    def of(self, loaded: LoadedSpec, workload: Workload) -> tuple[ColumnValues, ...]:
        """Return what every dimension and measure holds."""
        with self._lock:
            state = self.door.state(loaded), workload.schema
            if self._known is None or self._known[0] != state:
                with self.door.opened(loaded) as table:
                    self._known = state, column_values(table)
            return self._known[1]
