"""The paper's worked example: five establishments, split, and what each of them loses."""

from fractions import Fraction

from perrecord import Policy, Split, group_loss, meaning

ESTABLISHMENTS = [
    {"id": 1, "industry": "Agriculture", "employees": 150, "payroll": 10_000_000},
    {"id": 2, "industry": "Agriculture", "employees": 50, "payroll": 15_000_000},
    {"id": 3, "industry": "Mining", "employees": 100, "payroll": 10_000_000},
    {"id": 4, "industry": "Mining", "employees": 50, "payroll": 10_000_000},
    {"id": 5, "industry": "Retail", "employees": 20, "payroll": 1_000_000},
]


def table(rows: list[dict[str, object]]) -> None:
    """Print rows as a table."""
    print(f"  {'id':>2}  {'industry':<12}{'employees':>10}{'payroll':>14}")
    for row in rows:
        print(f"  {row['id']:>2}  {row['industry']:<12}{row['employees']:>10}{row['payroll']:>14,}")


def main() -> None:
    """Split the table, then look every record's loss up in three policies."""
    scheme = Split(employees=50, payroll=5_000_000)
    print("The records:")
    table(ESTABLISHMENTS)
    print("\nSplit at 50 employees and 5,000,000 payroll:")
    table([row for record in ESTABLISHMENTS for row in scheme.rows(record)])

    total = Policy.split(1, scheme)
    median_and_total = Policy.constant(1) + total
    mining = Split(employees=50, payroll=10_000_000)
    by_industry = Split.by("industry", {"Mining": mining}, default=scheme)
    keys = Policy.selection(1, ["industry"], split=by_industry, delta="1e-6")
    keys_and_totals = keys + Policy.split(2, by_industry)
    print("\nWhat each record loses:")
    print("  id  total         median and total    keys and two totals by industry, and delta")
    for record in ESTABLISHMENTS:
        first, second, third = (
            policy.loss(record) for policy in (total, median_and_total, keys_and_totals)
        )
        print(
            f"  {record['id']:>2}  {first} rho{'':<9} rho_1 + {second - 1} rho_2"
            f"{'':<7} {third / 3} (rho_1 + rho_2 + rho_3)   {float(keys.delta(record)):.2g}"
        )

    rho = Fraction(1, 10)
    print(f"\nWith rho = {float(rho)} for the total, in words:")
    print((rho * total).describe())
    print("\nWhat that means for the largest and the smallest record:")
    for record in (ESTABLISHMENTS[0], ESTABLISHMENTS[4]):
        loss = (rho * total).loss(record)
        figures = meaning(loss)
        print(
            f"  id {record['id']}: loss {float(loss):g}, (epsilon, delta) = "
            f"({figures.epsilon:.2f}, 1e-6); an attacker with 5 % false alarms finds it in the "
            f"data at most {figures.power[0.05]:.0%} of the time"
        )
    losses = [(rho * total).loss(record) for record in ESTABLISHMENTS[:2]]
    print(f"  ids 1 and 2 together, as one firm: loss {float(group_loss(losses)):g}")


if __name__ == "__main__":
    main()
