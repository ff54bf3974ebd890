"""`policy`: what hypothetical records lose."""

from fractions import Fraction

import pytest

from tests.cli.conftest import changed, run

PLANT = ("--record", "emp=150", "--record", "county=37001")


@pytest.mark.parametrize("source", ["published", "published/policy.json", "release.yaml"])
def test_a_record_from_a_release_or_a_spec(published, source):
    """The same loss from each: 0.1 + 0.2 * 3^2."""
    found = run("policy", source, *PLANT, "--json").json()["records"][0]
    assert found["loss"] == "1.9"
    assert found["pieces"] == [{"scheme": "Split(emp=50)", "pieces": 3}]
    assert [(each["name"], each["loss"]) for each in found["answers"]] == [
        ("counties.establishments", "0.1"),
        ("counties.employees", "1.8"),
    ]
    assert found["meaning"]["epsilon"] == pytest.approx(11.5, abs=1)
    assert found["delta"] == "0"


def test_a_record_in_words(published):
    """Loss, pieces, parts and meaning."""
    shown = run("policy", "published", *PLANT)
    assert shown.code == 0
    assert "A record with emp = 150, county = 37001\nloses 1.9 rho." in shown.out
    assert "3       Split(emp=50)" in shown.out
    assert "94.7 %" in shown.out
    assert "finds it in at most 88.4 % of cases" in shown.out  # 88.32, rounded up
    assert "odds" not in shown.out  # 790 would tell nobody anything


@pytest.mark.parametrize("source", ["published", "published/policy.json", "release.yaml"])
def test_a_change_from_a_release_or_a_spec(published, source):
    """150 employees become 165: 0.2 (15/50)^2, and nothing for the count."""
    found = run("policy", source, *PLANT, "--change", "emp=165", "--json").json()["change"]
    assert (found["loss"], found["exact"], found["delta"]) == ("0.018", True, "0")
    assert found["presence"] == ["1.9", "3.3"]
    assert [each["loss"] for each in found["answers"]] == ["0", "0.018"]
    assert found["before"]["emp"] == "150"
    assert (found["after"]["emp"], found["after"]["county"]) == ("165", "37001")
    assert found["told_apart"]["about"] == pytest.approx(0.0729, abs=1e-4)


def test_a_change_in_words(published):
    """Another county: leaving one cell and joining another."""
    shown = run("policy", "published", *PLANT, "--change", "county=37003").out
    assert "county  37001   37003" in shown
    assert "The change costs 3.8 rho." in shown
    assert "Being in the data at all costs the first record 1.9, the second 1.9." in shown
    assert "tells them apart in at most 100 % of cases" in shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--change", "emp=1"), "--change needs the record"),
        ((*PLANT, "--change", "emp"), "write a field as name=value"),
        ((*PLANT, "--change", "emp=1", "--change", "emp=2"), "--change gives 'emp' twice"),
        ((*PLANT, "--change", "size=1"), "there is no field 'size'"),
        (("--record", "county=37001", "--change", "county=37003"), "depends on emp"),
    ],
)
def test_a_change_that_is_none(published, given, message):
    """What to type instead."""
    shown = run("policy", "published", *given)
    assert shown.code != 0
    assert message in shown.err


def test_values_are_estimated_from_the_noise_and_not_from_the_loss(published):
    """T = 50 and rho = 0.2: noise of 79.06 for a corner shop and for a plant alike."""
    for size, relative in (("3", 26.35), ("150", 0.5270)):
        given = ("--record", f"emp={size}", "--record", "county=37001", "--json")
        (found,) = run("policy", "published", *given).json()["records"][0]["estimates"]
        assert found["standard_error"] == pytest.approx(79.0569, abs=1e-3)
        assert found["relative"] == pytest.approx(relative, rel=1e-3)
    shown = run("policy", "published", *PLANT).out
    assert "emp      150    about 79.1      52.7 %" in shown


def test_without_a_record_the_policy_in_words(published):
    """And which fields a record has."""
    shown = run("policy", "published").out
    assert "0.2 times the record's number of pieces squared" in shown
    assert "The least that a record loses is 0.3" in shown
    assert "Fields of a record: county, state, emp." in shown
    assert run("policy", "published", "--json").json()["most"] is None


def test_a_file_of_records(published):
    """Each row, with its name or its line; a missing number loses least."""
    path = published / "records.csv"
    path.write_text("name,emp,county\na plant,150,37001\n,,48001\n", encoding="utf-8")
    shown = run("policy", "published", "--records", path)
    assert shown.code == 0
    assert "a plant   1.9" in shown.out
    assert "line 3    0.3" in shown.out
    found = run("policy", "published", "--records", path, "--json").json()["records"]
    assert [each["loss"] for each in found] == ["1.9", "0.3"]
    assert found[1]["record"] == {"emp": None, "county": "48001"}


def test_a_file_of_records_may_be_written_otherwise(published):
    """It is read by the options of init, and without them the message says what to type."""
    path = published / "records.csv"
    path.write_bytes("name;emp;county\nä;150,0;37001\n".encode("latin-1"))
    refused = run("policy", "published", "--records", path)
    assert refused.code == 1
    assert "type --encoding windows-1252" in refused.err.replace("\n", " ")
    refused = run("policy", "published", "--records", path, "--encoding", "latin-1")
    assert "say so: --encoding latin-1 --separator ';', and --decimal , if" in refused.err.replace(
        "\n", " "
    )
    said = ("--separator", ";", "--encoding", "latin-1", "--decimal", ",")
    found = run("policy", "published", "--records", path, *said, "--json").json()["records"]
    assert [each["loss"] for each in found] == ["1.9"]
    assert found[0]["name"] == "ä"
    path.write_text("emp\n150\n", encoding="utf-16")
    refused = run("policy", "published", "--records", path)
    assert "Say so: --encoding utf-16." in refused.err.replace("\n", " ")
    alone = run("policy", "published", "--separator", ";")
    assert alone.code == 2
    assert "is about a file of --records" in alone.err


@pytest.mark.parametrize(
    ("number", "given", "said"),
    [
        ("1.234,50", ("--decimal", ","), "no points between thousands, such as 1234,50"),
        ("150,0", (), "If numbers of the file are written as 1,5, type --decimal ,"),
    ],
)
def test_numbers_of_records_with_the_other_sign(published, number, given, said):
    """The message says which sign is in the way, and not the number."""
    path = published / "records.csv"
    path.write_text(f"emp;county\n{number};37001\n", encoding="utf-8")
    refused = run("policy", "published", "--records", path, "--separator", ";", *given)
    assert refused.code == 1
    assert said in refused.err
    assert number not in refused.err


def test_records_of_a_firm_lose_more_together(published):
    """In each county its employees are added up; counties add up."""
    path = published / "branches.csv"
    path.write_text(
        "name,emp,county,state\na,100,37001,37\nb,50,37001,37\nc,150,48001,48\n", encoding="utf-8"
    )
    found = run("policy", "published", "--records", path, "--json").json()
    # The count of 37001 moves by 2, that of 48001 by 1; the totals of both by 150 of 50.
    expected = Fraction(1, 10) * (2**2 + 1) + Fraction(2, 10) * (3**2 + 3**2)
    assert Fraction(found["together"]["loss"]) == expected
    assert found["together"]["by_cell"] is True
    shown = run("policy", "published", "--records", path)
    assert "together  4.1" in shown.out
    assert "one unit, such as a firm" in shown.out
    path.write_text("name,emp\na,100\nb,50\n", encoding="utf-8")
    shown = run("policy", "published", "--records", path)
    assert "What they lose together depends on county" in shown.out
    assert run("policy", "published", "--records", path, "--json").json()["together"] == {
        "loss": None,
        "needs": ["county"],
    }


def test_dimensions_are_derived_for_a_spec(folder):
    """A spec knows the columns that a published policy does not."""
    changed(folder, "    keys: counties", "    where: state = '37'\n    keys: counties")
    found = run("policy", "release.yaml", *PLANT, "--json").json()["records"][0]
    assert found["record"]["state"] == "37"
    assert found["loss"] == "1.9"
    other = run(
        "policy", "release.yaml", "--record", "emp=150", "--record", "county=48001", "--json"
    )
    assert other.json()["records"][0]["loss"] == "0"


def test_key_selection_has_a_delta_and_epsilon_is_its_own_meaning(folder):
    """Other kinds of policies are shown as well."""
    changed(
        folder,
        '{values: {county: ["37001", "48001", "48003"]}}',
        "{select: {rho: 0.1, delta: 1e-6}}",
    )
    found = run("policy", "release.yaml", *PLANT, "--json").json()["records"][0]
    assert 0 < float(eval(found["delta"])) <= 1e-6
    assert "its key is revealed" in run("policy", "release.yaml", *PLANT).out


def test_pure_epsilon(folder):
    """There is no conversion to show."""
    path = folder / "release.yaml"
    path.write_text(path.read_text("utf-8").replace("rho", "epsilon"), encoding="utf-8")
    found = run("policy", "release.yaml", *PLANT, "--json").json()["records"][0]
    assert (found["currency"], found["loss"], found["meaning"]) == ("epsilon", "0.7", None)
    assert "exp(0.7)" in run("policy", "release.yaml", *PLANT).out


@pytest.mark.parametrize("record", [["emp"], ["=3"], ["emp=1", "emp=2"]])
def test_a_record_that_is_no_record(published, record):
    """A mistake on the command line."""
    given = [part for each in record for part in ("--record", each)]
    assert run("policy", "published", *given).code == 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("employes=3", "there is no field 'employes'. Fields are county, state, emp."),
        ("emp=hemlock", "the measure 'emp' is text but not a finite number"),
        ("county=37001", "the loss depends on emp, which the record lacks. Add --record emp="),
        ("county=37001", "or columns of these names to the file of --records"),
    ],
)
def test_a_record_that_does_not_fit(published, record, message):
    """The message names the field and not the value."""
    shown = run("policy", "published", "--record", record)
    assert shown.code == 1
    assert message in shown.err
    assert "hemlock" not in shown.err


def test_files_that_are_no_records_or_no_policy(published):
    """Each is named with its line."""
    for text, message in (
        ("emp\n1,2\n", "records.csv:2: expected 1 field, found 2."),
        ("emp,emp\n1,2\n", "the name of each field once"),
        ("emp\nhemlock\n", "records.csv:2: the measure 'emp'"),
        ('emp\n"1\n', "could not be read as CSV"),
    ):
        (published / "records.csv").write_text(text, encoding="utf-8")
        shown = run("policy", "published", "--records", "records.csv")
        assert shown.code == 1
        assert message in shown.err
        assert "hemlock" not in shown.err
    (published / "policy.json").write_text("{}", encoding="utf-8")
    assert run("policy", "policy.json").code == 1
    assert run("policy", "none.json").code == 1
    both = run("policy", "published", "--record", "emp=1", "--records", "records.csv")
    assert both.code == 2


@pytest.mark.parametrize("moved", [("county=37001", "county=48001"), ("county=37001", "county=")])
def test_what_follows_from_a_dimension_that_changes_may_change_too(folder, moved):
    """A published policy does not know the state of a county: it is priced as another one.

    From the spec, which derives it, the change costs as much where the state is another.
    """
    changed(folder, "group_by: [county]", "group_by: [state]")
    changed(folder, "keys: counties", "keys: states")
    changed(folder, "keys:\n", 'keys:\n  states: {values: {state: ["37", "48"]}}\n')
    assert run("ledger", "create", "release.yaml").code == 0
    assert run("release", "release.yaml", "--out", "published").code == 0
    before, after = moved
    given = ("--record", "emp=10", "--record", before, "--change", after, "--json")
    here, there = (
        run("policy", each, *given).json()["change"] for each in ("published", "release.yaml")
    )
    assert Fraction(here["loss"]) == Fraction(there["loss"]) > 0


def test_what_a_lookup_adds_to_a_dimension_that_changes_may_change_too(folder):
    """A published policy says of such a column nothing but its name: it is priced as another one.

    The record leaves its cell and enters another, which costs what it loses in both together.
    """
    (folder / "regions.csv").write_text("fips,region\n37001,east\n48001,west\n", encoding="utf-8")
    lookups = "lookups:\n  - {source: regions.csv, on: {county: fips}, columns: [region]}\n"
    changed(folder, "group_by: [county]", "group_by: [region]")
    changed(folder, "keys: counties", "keys: regions")
    changed(folder, "keys:\n", f"{lookups}keys:\n  regions: {{values: {{region: [east, west]}}}}\n")
    changed(folder, "dimensions: {county:", "dimensions: {region: region, county:")
    assert run("ledger", "create", "release.yaml").code == 0
    assert run("release", "release.yaml", "--out", "published").code == 0
    given = ("--record", "emp=50", "--record", "county=37001", "--change", "county=48001")
    found = run("policy", "published", *given, "--json").json()["change"]
    assert Fraction(found["loss"]) == sum(map(Fraction, found["presence"])) > 0


def test_a_measure_that_changes_leaves_cells_as_they_are_unless_they_go_by_it(folder):
    """Only what an expression reads can follow from it."""
    changed(folder, "group_by: [county]", "group_by: [large]")
    changed(folder, "keys: counties", "keys: sizes")
    changed(folder, "keys:\n", "keys:\n  sizes: {values: {large: [false, true]}}\n")
    changed(
        folder, "dimensions: {county: county,", "dimensions: {large: emp > 100, county: county,"
    )
    assert run("ledger", "create", "release.yaml").code == 0
    assert run("release", "release.yaml", "--out", "published").code == 0
    given = ("--record", "emp=10", "--record", "county=37001", "--change", "emp=4000", "--json")
    here, there = (
        run("policy", each, *given).json()["change"] for each in ("published", "release.yaml")
    )
    assert Fraction(here["loss"]) >= Fraction(there["loss"]) > 0


@pytest.mark.parametrize("source", ["published", "release.yaml"])
def test_fields_that_contradict_each_other_are_refused(published, source):
    """What follows from another field is left out or is what follows; no value is quoted."""
    shown = run("policy", source, *PLANT, "--record", "state=48")
    assert shown.code == 1
    assert "'state' does not match what follows from county" in shown.err
    assert "48" not in shown.err
    assert run("policy", source, *PLANT, "--record", "state=37").code == 0


def test_an_example_that_contradicts_itself_is_refused(folder):
    """At its line, like any other mistake of a spec."""
    changed(folder, '{name: a plant, emp: 150, county: "37001"}',
            '{name: a plant, emp: 150, county: "37001", state: "48"}')  # fmt: skip
    shown = run("check", "release.yaml")
    assert shown.code == 1
    assert "examples[1]" in shown.err
    assert "'state' does not match what follows from county" in shown.err
