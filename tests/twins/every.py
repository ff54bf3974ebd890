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
    tapered_audits,
    tapering,
)

EVERY = (
    *policies.TWINS,
    *changes.TWINS,
    *noises.TWINS,
    *students.TWINS,
    *derived.TWINS,
    *tapering.TWINS,
    *tapered_audits.TWINS,
    *tables.TWINS,
    *confidential.TWINS,
    *queries.TWINS,
    *mechanisms.TWINS,
    *ledgers.TWINS,
    *releases.TWINS,
    *figures.TWINS,
    *doors.TWINS,
)
