# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord synth`: synthetic data and public key files, to try things on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from perrecord.cli.command import examples
from perrecord.cli.output import say, show
from perrecord.cli.progress import progress
from perrecord.errors import InputError, number_of

if TYPE_CHECKING:
    from perrecord.lab.synth import PublishedCounts

BUSINESS_EXAMPLES = examples(
    "perrecord synth business --rows 300000 --out est.parquet",
    "perrecord synth business --fit cbp.parquet --out est.parquet",
    "perrecord synth business --fit zbp.parquet --counties zip_to_county.csv --out est.parquet",
)
CBP_EXAMPLES = examples(
    "perrecord synth cbp --rows 300000 --out est.parquet",
    "perrecord synth cbp --fit cbp.parquet --out est.parquet",
)
KEYS_EXAMPLES = examples(
    "perrecord synth keys --out keys",
    "perrecord synth keys --of sim --out keys",
    "perrecord synth keys --fit cbp.parquet --out keys",
)
SIM_EXAMPLES = examples("perrecord synth sim --rows 100000 --out sim.parquet")
CIS_EXAMPLES = examples(
    "perrecord synth cis --out cis.parquet",
    "perrecord synth cis --rows 9426 --seed 7 --out three-years.parquet",
)
NASS_EXAMPLES = examples(
    "perrecord synth nass milk.csv.gz --out cis.parquet",
    "perrecord synth nass cattle.csv --item 'CATTLE, INCL CALVES - INVENTORY' --year 2022 "
    "--rent rents.csv --keys keys --out cis.parquet",
)

Out = Annotated[Path, typer.Option(help="The Parquet file to write.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same file.")]
Fit = Annotated[
    Path | None,
    typer.Option(help="A published table to fit: Parquet or CSV.", metavar="FILE"),
]
Counties = Annotated[
    Path | None,
    typer.Option(help="With --fit: the county of each ZIP code (zip, fips).", metavar="FILE"),
]
Digits = Annotated[
    int | None, typer.Option(min=2, max=6, help="With --fit: the level of its industries.")
]
Place = Annotated[str | None, typer.Option(help="With --fit: its column of counties or ZIP codes.")]
Industry = Annotated[str | None, typer.Option(help="With --fit: its column of industries.")]
Size = Annotated[str | None, typer.Option(help="With --fit: its column of size classes.")]
Count = Annotated[str | None, typer.Option(help="With --fit: its column of establishments.")]


def business(
    *,
    rows: Annotated[
        int | None,
        typer.Option(min=0, help="How many establishments; with --fit, as published if left out."),
    ] = None,
    out: Out,
    seed: Seed = 0,
    fit: Fit = None,
    counties: Counties = None,
    digits: Digits = None,
    place: Place = None,
    industry: Industry = None,
    size: Size = None,
    count: Count = None,
) -> None:
    """Write synthetic business establishments: heavy-tailed, like County Business Patterns.

    Columns: id, firm, state, county, naics, emp, payann and payqtr1. With --fit there are as many
    establishments of every place, industry and size class as a published table has, or their
    proportion of --rows; a table of ZIP codes adds the column zip. The columns of County and ZIP
    Code Business Patterns are known by name. An existing file is never overwritten.
    """
    _check_new(out)
    from perrecord.lab.synth import business as establishments

    with progress(quiet=False) as step:
        step("reading the published table" if fit else "writing establishments")
        table = _published(fit, counties, digits, place, industry, size, count)
        if table is None and rows is None:
            raise typer.BadParameter("expected --rows, or --fit.", param_hint="--rows")
        if table is not None and table.without_county:
            say(
                "No county is known for the ZIP code of "
                f"{number_of(table.without_county, 'establishment')}; county 99999 stands in."
            )
        step("writing establishments")
        establishments(rows, out, seed=seed, fitted_to=table)
    show(str(out))


def sim(
    rows: Annotated[int, typer.Option(min=0, help="How many records.")],
    out: Out,
    seed: Seed = 0,
) -> None:
    """Write the paper's simulated data: two measures whose variance is infinite.

    Columns: id, catix (1 to 1,000), ht1 of Pareto(1, 1.2) and ht2 of Pareto(1, 1.5), in hundredths.
    An existing file is never overwritten.
    """
    _check_new(out)
    from perrecord.lab.synth import simulation

    simulation(rows, out, seed=seed)
    show(str(out))


def cis(
    *,
    rows: Annotated[
        int | None,
        typer.Option(min=0, help="How many records; one for each of 3,142 counties if left out."),
    ] = None,
    out: Out,
    seed: Seed = 0,
) -> None:
    """Write counties with their cattle and pastureland rents, like the Cattle Inventory Survey.

    Columns: id, year, state, district, county, inventory (heavy-tailed) and rent ($ per acre, 0.40
    to 110). Rows beyond the number of counties are for earlier years. An existing file is never
    overwritten.
    """
    _check_new(out)
    from perrecord.lab.synth import cattle

    cattle(rows, out, seed=seed)
    show(str(out))


def nass(  # noqa: PLR0913 -- an option for every choice
    file: Annotated[
        Path, typer.Argument(help="A CSV file of Quick Stats, plain or gzip.", metavar="FILE")
    ],
    *,
    out: Out,
    item: Annotated[
        str | None, typer.Option(help="The Data Item; needed when the file has several.")
    ] = None,
    rent: Annotated[
        Path | None, typer.Option(help="Another file, with pastureland rents.", metavar="FILE")
    ] = None,
    year: Annotated[
        int | None, typer.Option(help="The year; needed when the file has several.")
    ] = None,
    program: Annotated[str | None, typer.Option(help="CENSUS or SURVEY.")] = None,
    period: Annotated[str | None, typer.Option(help="Such as 'FIRST OF JAN'.")] = None,
    category: Annotated[
        str | None, typer.Option(help="A Domain Category, instead of totals.")
    ] = None,
    keep_suppressed: Annotated[
        bool, typer.Option("--keep-suppressed", help="Keep (D), (NA), (S), (X) as NULL.")
    ] = False,
    keep_combined: Annotated[
        bool, typer.Option("--keep-combined", help="Keep OTHER (COMBINED) COUNTIES.")
    ] = False,
    keys: Annotated[
        Path | None, typer.Option(help="A folder for the keys: states and districts.")
    ] = None,
) -> None:
    """Write the county records of a real USDA NASS Quick Stats file, with the columns of `cis`.

    Values that are not published are left out, and (Z) is 0; stderr says what became of every row.
    Existing files are never overwritten.
    """
    from perrecord.lab.synth import nass as load
    from perrecord.lab.synth.files import gathered
    from perrecord.lab.synth.keys import nass_keys

    _check_new(out)
    loaded = load(
        file,
        item=item,
        rent=rent,
        year=year,
        program=program,
        period=period,
        category=category,
        suppressed="null" if keep_suppressed else "drop",
        combined="keep" if keep_combined else "drop",
    )
    if keys is not None:
        _write(nass_keys(loaded), keys)
    gathered(loaded.table.to_batches(), loaded.table.schema, out)
    say("\n".join(loaded.lines()))
    show(str(out))


def keys(
    out: Annotated[Path, typer.Option(help="The folder to write into.")],
    of: Annotated[Literal["business", "sim", "cis"], typer.Option(help="Whose keys.")] = "business",
    fit: Fit = None,
    counties: Counties = None,
    digits: Digits = None,
    place: Place = None,
    industry: Industry = None,
    size: Size = None,
    count: Count = None,
) -> None:
    """Write the public keys of the synthetic establishments as CSV files.

    counties.csv lists the counties; industries2.csv to industries6.csv list the industries of 2 to
    6 digits. With --fit they are those of a published table, and zips.csv lists its ZIP codes. For
    sim it writes categories.parquet, for cis states.csv and districts.csv. Existing files are never
    overwritten.
    """
    from perrecord.lab.synth.keys import business_keys, cattle_keys, fitted_keys, simulation_keys

    table = _published(fit, counties, digits, place, industry, size, count)
    if table is not None and of != "business":
        raise typer.BadParameter("--fit is for the keys of business.", param_hint="--of")
    if table is not None:
        _write(fitted_keys(table), out)
    else:
        _write({"business": business_keys, "sim": simulation_keys, "cis": cattle_keys}[of](), out)


def _published(fit: Path | None, *options: Any) -> "PublishedCounts | None":
    """Return the published table that the options name, if they name one."""
    from perrecord.lab.synth import published

    names = ("counties", "digits", "place", "industry", "size", "count")
    given = {name: value for name, value in zip(names, options, strict=True) if value is not None}
    if fit is None and given:
        raise typer.BadParameter(
            "it says how to read the table of --fit.", param_hint=f"--{next(iter(given))}"
        )
    return None if fit is None else published(fit, **given)


def _write(tables: dict[str, Any], folder: Path) -> None:
    """Write keys into new files of a folder: CSV, or Parquet for numbers, which CSV has as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow.csv import write_csv

    files = {}
    for name, table in tables.items():
        is_text = all(pa.types.is_string(field.type) for field in table.schema)
        files[folder / f"{name}.{'csv' if is_text else 'parquet'}"] = table
    for path in files:
        _check_new(path)
    folder.mkdir(parents=True, exist_ok=True)
    for path, table in files.items():
        (write_csv if path.suffix == ".csv" else pq.write_table)(table, path)
        show(str(path))


def _check_new(path: Path) -> None:
    if path.exists():
        raise InputError(f"{str(path)!r} exists already; give another place with --out.")
