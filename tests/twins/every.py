"""Every twin, in the order of the layers."""

from tests.twins.topics import (
    doors,
    ledgers,
    mechanisms,
    noises,
    policies,
    queries,
    releases,
    tables,
)

EVERY = (
    *policies.TWINS,
    *noises.TWINS,
    *tables.TWINS,
    *queries.TWINS,
    *mechanisms.TWINS,
    *ledgers.TWINS,
    *releases.TWINS,
    *doors.TWINS,
)
