"""Every twin, in the order of the layers."""

from tests.twins.topics import (
    changes,
    confidential,
    derived,
    doors,
    figures,
    fitting,
    ledgers,
    mechanisms,
    noises,
    policies,
    queries,
    releases,
    students,
    tables,
    tapering,
    tuning,
)

EVERY = (
    *policies.TWINS,
    *changes.TWINS,
    *noises.TWINS,
    *students.TWINS,
    *derived.TWINS,
    *tapering.TWINS,
    *tables.TWINS,
    *confidential.TWINS,
    *queries.TWINS,
    *mechanisms.TWINS,
    *ledgers.TWINS,
    *releases.TWINS,
    *fitting.TWINS,
    *figures.TWINS,
    *tuning.TWINS,
    *doors.TWINS,
)
