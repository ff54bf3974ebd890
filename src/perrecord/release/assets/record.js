// The policy of this page and the record that is typed: what is read and what it costs.

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const isRho = data.currency === "rho";
const POWER = isRho ? 2n : 1n;

const curves = new Map(
  data.curves.map(({ rho, threshold, points }) => [
    `${rho} ${threshold}`,
    points.map(([pieces, delta]) => ({ pieces: BigInt(pieces), delta: exact(delta) })),
  ]),
);
const splits = data.splits.map(compiledSplit);
const compiled = (form) => compiledForm(form, { splits, curves });
const policy = compiled(data.total);
const budget = data.budget === null ? null : compiled(data.budget);
const charges = data.charges.map((charge) => {
  const noise = charge.noise === null ? null : charge.noise.map(compiledNoise);
  const outputs = charge.outputs && charge.outputs.map((each) => compiledOutput(each, noise));
  return { ...charge, form: compiled(charge.form), noise, outputs };
});
const series = data.series && {
  ...data.series,
  earlier: data.series.earlier.map((each) => ({ ...each, form: compiled(each.form) })),
  limit: data.series.limit && compiled(data.series.limit),
};
const least = exact(data.least);
const labels = new Map(data.labels);
const nameOf = (name) => labels.get(name) || name;

// The values of each dimension that some case names.
const named = new Map(data.fields.map((field) => [field.name, new Set()]));
const gatherNamed = (value) => {
  if (value === null || typeof value !== "object") return;
  if (Array.isArray(value.dimensions))
    for (const { when } of value.cases)
      when.forEach((tag, i) => named.get(value.dimensions[i])?.add(tag));
  Object.values(value).forEach(gatherNamed);
};
gatherNamed([data.splits, data.total, data.charges, data.series]);
for (const field of data.fields) field.named = named.get(field.name);
// Derived measures follow from these.
const measures = data.fields.filter((field) => field.kind === "measure" && !field.computed);
const told = data.fields.filter((field) => data.by_themselves.includes(field.name));
const priced = measures.filter((field) => field.priced);
// Where a dimension follows from a measure, such as a size class, a greater value may change both.
const decides = (field) => Object.hasOwn(data.deciding, field.name);

// Whether every answer says what a change of a record costs.
const isPriced = charges.every(({ outputs }) => outputs !== null);
const drawnMeasures = isPriced ? measures : priced;

// The example: the usual threshold of each measure, on its grid.
const scaleOf = (field) => exact(field.scale);
const onGrid = (field, value) => {
  const step = exact(field.resolution);
  const steps = roundHalfAway(divide(value, step));
  const most = BigInt(field.largest);
  return multiply(fraction(steps < 1n ? 1n : steps > most ? most : steps), step);
};
const controls = data.fields.map((field, index) =>
  control(field, index, field.kind === "measure" ? onGrid(field, scaleOf(field)) : null),
);

// A derived measure follows from those before it, exactly; it is missing where one of them is.
const computedMeasure = (field, record) => {
  const { reads, terms } = field.computed;
  if (reads.some((name) => record.missing.has(name)))
    return { number: ZERO, missing: true, note: "A value that it is computed from is missing: counted as 0." };
  const product = (names) => names.map((name) => record.measures.get(name)).reduce(multiply, ONE);
  const value = sum(terms.map(([factor, names]) => multiply(exact(factor), product(names))));
  return counted(field, value);
};

// The record with another value of one measure, and of what is computed from it.
const withMeasure = (record, name, value) => {
  const found = {
    ...record,
    measures: new Map(record.measures).set(name, value),
    missing: new Set([...record.missing].filter((each) => each !== name)),
  };
  for (const field of data.fields.filter((each) => each.computed)) {
    const { number, missing } = computedMeasure(field, found);
    found.measures.set(field.name, number);
    if (missing) found.missing.add(field.name);
    else found.missing.delete(field.name);
  }
  return found;
};

const readRecord = () => {
  const record = { measures: new Map(), dimensions: new Map(), missing: new Set() };
  let isWhole = true;
  for (const each of controls) {
    if (each.field.computed && !isWhole) continue; // what it is computed from is not a number yet
    const { number, tag, note, problem, missing } = each.read(record);
    if (missing) record.missing.add(each.field.name);
    each.tell(note, problem);
    if (problem) isWhole = false;
    else if (number) record.measures.set(each.field.name, number);
    else record.dimensions.set(each.field.name, tag);
  }
  return isWhole ? record : null;
};

// What the record was in earlier periods, where that was kept; in others it has the same values.
const keptRecords = new Map();

// What a record loses over all periods, by releases so far; null without periods, or where an
// earlier release covers no such record. The limit is that of a record that stays the same.
const overPeriods = (record, own) => {
  if (series === null) return null;
  const before = series.earlier.map(({ period, titles, form }) => ({
    period,
    titles,
    isKept: keptRecords.has(period),
    loss: lossOf(form, keptRecords.get(period) ?? record, POWER),
  }));
  const inPeriod = before.filter(({ period }) => period === series.period);
  return {
    before,
    period: sum([own, ...inPeriod.map(({ loss }) => loss)]),
    soFar: sum([own, ...before.map(({ loss }) => loss)]),
    limit: series.limit && keptRecords.size === 0 ? lossOf(series.limit, record, POWER) : null,
  };
};

// Everything there is to say of a record, or NotCovered.
const assess = (record) => {
  const loss = lossOf(policy, record, POWER);
  const delta = deltaOf(policy, record);
  const shares = charges.map(({ name, title, form }) => ({
    name,
    title,
    loss: lossOf(form, record, POWER),
    delta: deltaOf(form, record),
  }));
  const meaning = isRho
    ? meaningOfRho(toNumber(loss), toNumber(delta))
    : meaningOfEpsilon(toNumber(loss));
  const slots = slotsOf(policy, record).map((slot) => ({
    slot,
    pieces: slotPieces(slot, record),
  }));
  const reserve = subtract(loss, sum(shares.map((share) => share.loss)));
  // Every answer states its noise, and nothing is kept for further answers.
  const isStated = reserve.top === 0n && charges.every((charge) => charge.noise !== null);
  const shifted =
    isRho && isStated && slots.length === 0 ? shiftedLoss(charges, shares, record) : null;
  return {
    record,
    loss,
    delta,
    shares,
    meaning,
    about: shifted === null ? null : gaussianPower(toNumber(shifted)),
    estimates: isStated ? estimatesOf(charges, record, told) : null,
    changes: isPriced && reserve.top === 0n ? changesOf(charges, record, measures.filter((field) => !decides(field))) : null,
    limit: budget && lossOf(budget, record, POWER),
    periods: unlessNotCovered(() => overPeriods(record, loss)),
    reserve,
    pieces: data.shown_splits
      // A scheme of some part of the records may not know this one.
      .map((index) => unlessNotCovered(() => ({ index, ...piecesOf(splits[index], record) })))
      .filter((found) => found !== null),
    slots,
  };
};
