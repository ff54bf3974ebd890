"""Every twin, in the order of the layers."""

from tests.twins.topics import (
    changes,
    confidential,
    derived,
    doors,
    figures,
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
    *figures.TWINS,
    *tuning.TWINS,
    *doors.TWINS,
)
