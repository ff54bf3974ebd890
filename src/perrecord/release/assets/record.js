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
const charges = data.charges.map((charge) => ({ ...charge, form: compiled(charge.form) }));
const least = exact(data.least);
const labels = new Map(data.labels);
const nameOf = (name) => labels.get(name) || name;
const measures = data.fields.filter((field) => field.kind === "measure");

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
  const record = { measures: new Map(), dimensions: new Map() };
  let isWhole = true;
  for (const each of controls) {
    const { number, tag, note, problem } = each.read();
    each.tell(note, problem);
    if (problem) isWhole = false;
    else if (number) record.measures.set(each.field.name, number);
    else record.dimensions.set(each.field.name, tag);
  }
  return isWhole ? record : null;
};

// Everything there is to say of a record, or NotCovered.
const assess = (record) => {
  const parts = partsOf(policy, record, POWER);
  const loss = total(parts);
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
  // A part that reads several measures counts for each of them: it may be the total of any.
  const precision = measures
    .filter(({ name }) => isRho && record.measures.get(name).top !== 0n)
    .map((field) => ({
      field,
      loss: total(parts.filter((part) => part.measures.includes(field.name))),
    }))
    .filter((each) => each.loss.top > 0n)
    .map((each) => ({ field: each.field, ratio: precisionOf(toNumber(each.loss)) }));
  return {
    record,
    loss,
    delta,
    shares,
    meaning,
    precision,
    limit: budget && lossOf(budget, record, POWER),
    reserve: subtract(loss, sum(shares.map((share) => share.loss))),
    pieces: data.shown_splits
      // A scheme of some part of the records may not know this one.
      .map((index) => unlessNotCovered(() => ({ index, ...piecesOf(splits[index], record) })))
      .filter((found) => found !== null),
    slots: slotsOf(policy, record).map((slot) => ({ slot, pieces: slotPieces(slot, record) })),
  };
};
