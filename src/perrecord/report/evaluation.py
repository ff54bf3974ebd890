"""The report of an evaluation: what a workload costs its records, and what it buys."""

from collections.abc import Callable, Sequence

from perrecord.errors import number_of
from perrecord.evaluate.coverage import Coverage
from perrecord.evaluate.evaluation import Evaluation
from perrecord.report import consistent, errors, losses
from perrecord.report.coverage import outside_keys
from perrecord.report.numbers import percent
from perrecord.report.page import Page, Section

_SECTIONS: tuple[Callable[[Evaluation], Section | None], ...] = (
    errors.sizes_of_errors,
    consistent.after_fitting,
    errors.by_cell_size,
    errors.bias_and_noise,
    losses.of_records,
    losses.of_units,
    losses.by_record_size,
    losses.of_changes,
    errors.privacy_against_error,
    losses.fit_for_use,
)


def evaluation_page(
    found: Evaluation, title: str, made: str = "", covered: Sequence[Coverage] = ()
) -> Page:
    """Return the report of an evaluation, its findings first; sections without content are out."""
    made_sections = [outside_keys(covered), *(section(found) for section in _SECTIONS)]
    sections = tuple(each for each in made_sections if each is not None)
    units = found.losses.units
    people = f" of {number_of(units.realised.count, 'unit')}" if units is not None else ""
    others, lead = len(found.variants) - 1, f"{number_of(found.records, 'record')}{people}. "
    lead += "The release as it is written"
    if others:
        ways = number_of(others, "other way")
        lead += f" is compared with {ways} to ask the same questions"
    lead += "."
    meant = errors.DEFINITION.format(confidence=percent(float(found.confidence)))
    findings = [
        each.finding or each.figures[0].finding for each in sections if each.finding or each.figures
    ]
    return Page(f"Evaluation: {title}", (lead, meant), tuple(findings), sections, made)
