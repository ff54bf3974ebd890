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
gatherNamed([data.splits, data.total, data.charges]);
for (const field of data.fields) field.named = named.get(field.name);
const measures = data.fields.filter((field) => field.kind === "measure");
const priced = measures.filter((field) => field.priced);

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

const readRecord = () => {
  const record = { measures: new Map(), dimensions: new Map(), missing: new Set() };
  let isWhole = true;
  for (const each of controls) {
    const { number, tag, note, problem, missing } = each.read();
    if (missing) record.missing.add(each.field.name);
    each.tell(note, problem);
    if (problem) isWhole = false;
    else if (number) record.measures.set(each.field.name, number);
    else record.dimensions.set(each.field.name, tag);
  }
  return isWhole ? record : null;
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
    estimates: isStated ? estimatesOf(charges, record, measures) : null,
    changes: isPriced && reserve.top === 0n ? changesOf(charges, record, measures) : null,
    limit: budget && lossOf(budget, record, POWER),
    reserve,
    pieces: data.shown_splits
      // A scheme of some part of the records may not know this one.
      .map((index) => unlessNotCovered(() => ({ index, ...piecesOf(splits[index], record) })))
      .filter((found) => found !== null),
    slots,
  };
};
