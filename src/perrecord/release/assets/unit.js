// What several records of one unit, such as a firm, lose together (T34): in every published number
// its records are added up, and losses add up over numbers; the same as PublishedPolicy.unit.

const apartBy = (items, keyOfItem) => {
  const found = new Map();
  for (const item of items) {
    const key = keyOfItem(item);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(item);
  }
  return [...found.values()];
};

// A measure of whole numbers is a part of a key as a whole number is.
const partOfKey = (record, name) => {
  if (record.missing.has(name)) return "n";
  const value = record.measures.get(name);
  return value === undefined ? record.dimensions.get(name) : `i${value.top}/${value.bottom}`;
};
const byCell = (records, columns) =>
  apartBy(records, (record) => keyOf(columns.map((name) => partOfKey(record, name))));

const costOfBlurred = (cell, shifts, isSure) => {
  const noise = { spread: cell.spread, by: cell.by, nu: cell.law === "student3" ? 3 : 7 };
  const cost = isRho ? blurredRho : blurredEpsilon;
  const priced = (own) =>
    cost(noise, absolute(sum(own)), ZERO, sum(own.map((each) => raise(each, 2n)))) * ROUNDED_UP;
  return fromNumber(isSure ? priced(shifts) : groupLoss(shifts.map((each) => priced([each]))));
};

const jointNumber = (output, records) => {
  const { noise, by, certain, distinct } = output;
  const entered = records.filter((record) => cellOf(noise, record) !== null);
  const isSure = noise.certain && certain;
  return sum(
    byCell(entered, by).map((own) => {
      const cell = cellOf(noise, own[0]); // parts may cut values differently; their noise is one
      if (distinct !== null) {
        const values = new Set(own.map((record) => partOfKey(record, distinct)));
        values.delete("n");
        return shiftCost(cell, fraction(BigInt(values.size)));
      }
      const shifts = own.map((record) =>
        shiftOf({ noise, cell: cellOf(noise, record) }, record),
      );
      if ((cell.by ?? null) !== null) return costOfBlurred(cell, shifts, isSure);
      if (isSure) return shiftCost(cell, sum(shifts));
      const up = sum(shifts.filter(({ top }) => top > 0n));
      const down = subtract(up, sum(shifts));
      return shiftCost(cell, isBelow(up, down) ? down : up);
    }),
  );
};

const jointChoice = (output, records) => {
  const entered = records.filter(
    (record) => output.among === null || chosen(output.among, record),
  );
  return sum(
    byCell(entered, output.by).map((own) => {
      const values = votes(output, own.map((record) => ({ record, sign: 1n })));
      const distance = output.certain
        ? widest(output, values)
        : sum(values.map((each) => widest(output, [each])));
      return choiceCost(output, distance);
    }),
  );
};

// The pieces of every key that the records have, with the slot of the charge's selection.
const jointSelections = (form, records) => {
  const entered = records.flatMap((record) =>
    slotsOf(form, record).map((slot) => ({ slot, record, pieces: slotPieces(slot, record) })),
  );
  const keyOfEntered = ({ slot, record }) => keyOf(slot.keys.map((name) => partOfKey(record, name)));
  return apartBy(entered, keyOfEntered).map((own) => ({
    slot: own[0].slot,
    pieces: own.reduce((all, each) => all + each.pieces, 0n),
  }));
};

const jointOutput = (output, form, records) => {
  if (output.type === "number") return jointNumber(output, records);
  if (output.type === "choice") return jointChoice(output, records);
  return sum(
    jointSelections(form, records).map(({ slot, pieces }) =>
      multiply(slot.rho, fraction(pieces ** 2n)),
    ),
  );
};

// (sum of square roots)^2, or the sum of pure losses (T7, T16).
const groupLoss = (losses) =>
  isRho
    ? losses.reduce((all, one) => all + Math.sqrt(one), 0) ** 2 * ROUNDED_UP
    : losses.reduce((all, one) => all + one, 0) * ROUNDED_UP;

// { loss, delta, losses, isByCell }: of all records, and of each alone; null where something is
// kept for further selections of keys, of which nothing more is known.
const assessUnit = (records) => {
  const losses = records.map((record) => lossOf(policy, record, POWER));
  const kept = records.some((record, place) => {
    const spent = sum(charges.map(({ form }) => lossOf(form, record, POWER)));
    return !isEqual(spent, losses[place]);
  });
  if (kept && records.some((record) => slotsOf(policy, record).length > 0)) return null;
  const loss = kept
    ? fromNumber(groupLoss(losses.map(toNumber)))
    : sum(
        charges.flatMap(({ outputs, form }) =>
          outputs.map((output) => jointOutput(output, form, records)),
        ),
      );
  const delta = anyOf(
    charges
      .flatMap(({ form }) => jointSelections(form, records))
      .map(({ slot, pieces }) => deltaAt(slot.curve, pieces)),
  );
  return { loss, delta, losses, isByCell: !kept };
};
