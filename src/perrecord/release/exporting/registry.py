"""A draft for OpenDP's registry of deployments of differential privacy, as YAML.

Everything that follows from the published policy is filled in; what only the publisher knows (who
it is, what the tables are for, when they appeared) is marked FILL IN. The registry's reviewers take
over from there: https://github.com/opendp/deployments-registry-data.
"""

from typing import Any

import yaml

from perrecord.errors import DocumentError, InputError
from perrecord.exact import figure_up, text
from perrecord.policy.terms import Currency
from perrecord.release.document import PublishedPolicy
from perrecord.release.folders import ReleaseFolder
from perrecord.release.noise import cells_of
from perrecord.release.reading import read_published

FILL_IN = "FILL IN"
_HEAD = """\
# A draft for the registry of deployments of differential privacy, made from a published release.
# Replace every FILL IN, the type of the curator (Government, Industry, Nonprofit), the sector
# (Technology, Healthcare, Education, Government, Energy, Finance) and the date.
"""
_NAMES = {
    "gaussian": "discrete Gaussian",
    "laplace": "discrete Laplace",
    "student3": "discrete Student, nu = 3",
    "student7": "discrete Student, nu = 7",
}


def registry(folder: ReleaseFolder) -> dict[str, bytes]:
    """Return the entry of a release."""
    try:
        published = read_published(folder.file("policy.json").decode())
    except (DocumentError, UnicodeDecodeError):
        raise InputError(
            f"{str(folder.path / 'policy.json')!r} is not a published policy; expected a folder "
            "as it was published."
        ) from None
    written = yaml.safe_dump(
        _entry(folder, published), sort_keys=False, allow_unicode=True, width=100
    )
    return {"entry.yaml": (_HEAD + written).encode()}


def _entry(folder: ReleaseFolder, published: PublishedPolicy) -> dict[str, Any]:
    titles = ", ".join(each.title for each in folder.tables.values())
    return {
        "url_slug": FILL_IN,
        "deployment": {
            "basic": {
                "name": folder.title,
                "data_curators": [
                    {"data_curator_name": FILL_IN, "data_curator_type": "Government"}
                ],
                "description": folder.description or f"Tables: {titles}.",
                "intended_use": FILL_IN,
                "data_product_type": "Summary statistics",
                "data_product_region": FILL_IN,
                "data_product_sector": "Government",
                "publication_date": "1900-01-01",
            },
            "dp_variant": {
                "variant_name": _variant(published),
                "data_domain": f"All tables of records with the columns of {published.table}.",
                "unprotected_quantities": _unprotected(published),
            },
            "privacy_loss": {
                "privacy_unit": f"One record of {published.table}",
                "privacy_unit_details": _unit(published),
                "privacy_parameters": _parameters(published),
                "privacy_parameters_details": _details(published),
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "mechanisms": _mechanisms(folder, published),
                "composition": (
                    "Losses of all answers are added up, record by record, before anything is "
                    "computed; a ledger refuses what would exceed the budget for some record."
                ),
                "post_processing": "See methodology.md, published with the tables.",
                "additional_information": (
                    f"The charge of this release has the hash {folder.charge}."
                ),
            },
            "administrative": {"status": "Draft", "registry_authors": [FILL_IN], "tier": 2},
        },
    }


def _variant(published: PublishedPolicy) -> str:
    """Return the registry's word: a policy that grows without limit is none of the usual ones."""
    if published.total.supremum() is None or published.total.slots:
        return "Custom"
    is_rho = published.total.currency is Currency.RHO
    return "Zero-concentrated DP" if is_rho else "Pure DP"


def _parameters(published: PublishedPolicy) -> dict[str, float]:
    """Return the one amount that bounds every record's loss, never below it; none if none does."""
    most = published.total.supremum()
    if most is None or published.total.slots:
        return {}
    return {published.total.currency.value: float(figure_up(most, 12))}


def _unprotected(published: PublishedPolicy) -> str:
    if published.total.slots:
        return (
            "Which keys are listed is selected from the data; the policy states the probability "
            "delta with which that reveals a record."
        )
    return "None."


def _unit(published: PublishedPolicy) -> str:
    owner = (
        ""
        if published.unit_column is None
        else f" Records of the same {published.unit_column} belong together and lose more."
    )
    return f"Neighbouring tables differ by adding or removing one record.{owner}"


def _details(published: PublishedPolicy) -> str:
    """Return the policy in words, and what the published examples lose."""
    lines = [
        f"{published.total.currency.promise}: each record has a loss of its own, a public "
        "function of the record, which policy.json holds in full.",
        published.total.describe(),
        f"The least that any record can lose is {text(published.total.minimum())}.",
    ]
    lines += [
        f"{name} loses {published.total.bounded_loss(published.record(record))}."
        for name, record in published.examples
    ]
    return "\n".join(lines)


def _mechanisms(folder: ReleaseFolder, published: PublishedPolicy) -> str:
    laws = {
        cell.law
        for charge in published.charges
        for noise in charge.noise or ()
        for cell in cells_of(noise.cells)
    }
    named = (
        ", ".join(sorted(_NAMES.get(law, f"discrete {law}") for law in laws)) or "see the policy"
    )
    return (
        f"Noise of exact integer laws ({named}), drawn with the operating system's randomness; "
        "sums are exact integers, and where floats decide a comparison their error is proved. "
        f"{folder.made_with}."
    )
