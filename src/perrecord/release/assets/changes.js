// What it costs that one measure of a record is another (T27), everything else being equal: the
// same as perrecord.release.changes, exactly, or rounded up where it is irrational.

const PERCENTS = [5n, 10n, 20n];
const TWO = fraction(2n);

const compiledOutput = (output, noise) => {
  if (output.type === "number") return { ...output, noise: noise[output.noise] };
  const among = output.among && compiledCases(output.among, "passes", (passes) => passes);
  if (output.type === "selection") return { ...output, among };
  const level = exact(output.level);
  const farther = isBelow(level, fraction(1n, 2n)) ? subtract(ONE, level) : level;
  return {
    ...output,
    among,
    level,
    amount: exact(output.amount),
    side: multiply(output.weight ? multiply(TWO, exact(output.weight.at)) : TWO, farther),
    candidates: output.candidates.map(exact),
  };
};

// What a shift of a noisy number costs.
const shiftCost = ({ law, spread }, shift) => {
  if (shift.top === 0n) return ZERO;
  const distance = absolute(shift);
  if (law === "laplace") return divide(distance, spread);
  if (law === "gaussian") return divide(raise(distance, 2n), multiply(TWO, spread));
  const growth = isRho ? studentRho : studentEpsilon;
  const ratio = toNumber(distance) / (2 * Math.sqrt(toNumber(spread)));
  return fromNumber(growth(ratio, law === "student3" ? 3 : 7) * ROUNDED_UP);
};

const choiceCost = ({ amount, side }, distance) => {
  if (distance.top === 0n) return ZERO;
  if (!isRho) return divide(multiply(amount, distance), side);
  const eta = (Math.sqrt(8 * toNumber(amount)) * toNumber(distance)) / toNumber(side);
  return fromNumber(rangeCost(eta) * ROUNDED_UP);
};

// What a record adds to the sums that a quantile goes by, with the side that it is on: 1, or its
// weight, which counts as 0 below 0 or where it is missing (T37). Without a value there is none.
const votes = ({ measure, weight }, records) =>
  records
    .filter(({ record }) => !record.missing.has(measure))
    .map(({ record, sign }) => {
      const own = weight ? record.measures.get(weight.measure) : ONE;
      const isNone = own.top < 0n || (weight && record.missing.has(weight.measure));
      return {
        weight: isNone ? ZERO : multiply(fraction(sign), own),
        value: record.measures.get(measure),
      };
    });

// The most by which the changes of two candidates' distances from the quantile can differ. Between
// the values all candidates change alike, so that two of each stretch stand for the others.
const widest = ({ candidates, level }, values) => {
  const places = new Set([0, 1, candidates.length - 2, candidates.length - 1]);
  for (const { value } of values) {
    let [low, high] = [0, candidates.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBelow(candidates[middle], value)) low = middle + 1;
      else high = middle;
    }
    for (let step = -2; step <= 2; step += 1) places.add(low + step);
  }
  const count = sum(values.map(({ weight }) => weight));
  const changed = (isCounted) => sum(values.filter(isCounted).map(({ weight }) => weight));
  const ranges = [...places]
    .filter((place) => place >= 0 && place < candidates.length)
    .map((place) => {
      const own = candidates[place];
      const below = changed(({ value }) => isBelow(value, own));
      const above = changed(({ value }) => isBelow(own, value));
      const moves = [
        ZERO,
        subtract(below, multiply(level, count)),
        subtract(above, multiply(subtract(ONE, level), count)),
      ];
      return {
        up: moves.reduce((best, next) => (isBelow(best, next) ? next : best)),
        down: moves.reduce((best, next) => (isBelow(next, best) ? next : best)),
      };
    });
  let most = ZERO;
  ranges.forEach(({ up }, one) =>
    ranges.forEach(({ down }, other) => {
      const apart = subtract(up, down);
      if (one !== other && isBelow(most, apart)) most = apart;
    }),
  );
  return most;
};

// Each output's own cost when measures change: { loss, deltas, isGaussian }, from the record before
// and after. Cells that go by such a measure are two.
const numberChange = (output, before, after, changed) => {
  const { noise, by, certain, distinct } = output;
  const cell = cellOf(noise, before);
  const nothing = { loss: ZERO, deltas: [ZERO, ZERO], isGaussian: true };
  if (cell === null) return nothing;
  const isApart = by.some((each) => changed.includes(each));
  const isSure = noise.certain && certain;
  let shifts = [before, after].map((record) => shiftOf({ noise, cell }, record));
  if (distinct !== null) {
    if (before.dimensions.get(distinct) === "n" || (certain && !isApart)) return nothing;
    shifts = [ONE, ONE];
  }
  const cost = (shift) =>
    cell.by === null ? shiftCost(cell, shift) : blurredCost(cell, [ZERO, shift], true);
  const isWide = !isBelow(divide(cell.spread, raise(cell.step, 2n)), LEAST_VARIANCE);
  const isGaussian = cell.isGaussian && isWide && isSure;
  if (isApart) return { ...nothing, loss: sum(shifts.map(cost)), isGaussian };
  if (cell.by !== null)
    return { ...nothing, loss: blurredCost(cell, shifts, isSure), isGaussian: false };
  if (isSure) return { ...nothing, loss: cost(subtract(...shifts)), isGaussian };
  // A record that may be left out on either side moves it by all that comes, or all that goes.
  const parts = [shifts[1], subtract(ZERO, shifts[0])];
  const up = sum(parts.filter(({ top }) => top > 0n));
  const down = subtract(up, sum(parts));
  return { ...nothing, loss: cost(isBelow(up, down) ? down : up), isGaussian };
};

const choiceChange = (output, before, after, changed) => {
  const isIn = output.among === null || chosen(output.among, before);
  const both = [{ record: before, sign: -1n }, { record: after, sign: 1n }];
  const values = votes(output, isIn ? both : []);
  const alone = values.map((each) => widest(output, [each]));
  let loss;
  if (output.by.some((each) => changed.includes(each))) loss = sum(alone.map((each) => choiceCost(output, each)));
  else loss = choiceCost(output, output.certain ? widest(output, values) : sum(alone));
  return { loss, deltas: [ZERO, ZERO], isGaussian: false };
};

const selectionChange = (output, before, after, changed, form) => {
  const found = { loss: ZERO, deltas: [ZERO, ZERO], isGaussian: false };
  for (const slot of slotsOf(form, before)) {
    const pieces = [before, after].map((record) => slotPieces(slot, record));
    const [one, other] = pieces;
    const most = one < other ? other : one;
    const isApart = slot.keys.some((each) => changed.includes(each));
    const squares = isApart ? one ** 2n + other ** 2n : (output.certain ? one - other : most) ** 2n;
    found.loss = add(found.loss, multiply(slot.rho, fraction(squares)));
    if (isApart || !output.certain) found.deltas = pieces.map((each) => deltaAt(slot.curve, each));
  }
  return found;
};

const OUTPUTS = { number: numberChange, choice: choiceChange, selection: selectionChange };

const anyOf = (deltas) =>
  subtract(ONE, deltas.map((delta) => subtract(ONE, delta)).reduce(multiply, ONE));

// { loss, delta, isGaussian }: isGaussian if all that differs are numbers with wide Gaussian noise.
// A record that stays as it is costs nothing, whatever filters may make of it.
const changeOf = (charges, record, name, value) => {
  if (!record.missing.has(name) && isEqual(record.measures.get(name), value))
    return { loss: ZERO, delta: ZERO, isGaussian: true };
  const after = withMeasure(record, name, value);
  const isChanged = (each) =>
    record.missing.has(each) !== after.missing.has(each) ||
    !isEqual(record.measures.get(each), after.measures.get(each));
  const changed = [name, ...[...after.measures.keys()].filter(isChanged)];
  const every = charges.flatMap(({ outputs, form }) =>
    outputs.map((output) => OUTPUTS[output.type](output, record, after, changed, form)),
  );
  const [lost, gained] = [0, 1].map((side) => anyOf(every.map(({ deltas }) => deltas[side])));
  return {
    loss: sum(every.map(({ loss }) => loss)),
    delta: isBelow(lost, gained) ? gained : lost,
    isGaussian: every.every(({ loss, isGaussian }) => loss.top === 0n || isGaussian),
  };
};

// A value so many percent greater, rounded away from 0 to the grid, within what the table counts.
const raisedValue = (field, value, percent) => {
  const step = exact(field.resolution);
  const steps = multiply(divide(absolute(value), step), fraction(100n + percent, 100n));
  const [count, most] = [ceiling(steps), BigInt(field.largest)];
  const size = multiply(fraction(count < most ? count : most), step);
  return value.top < 0n ? subtract(ZERO, size) : size;
};

// For each measure that the record has and each percentage: what the greater value would cost.
const changesOf = (charges, record, fields) =>
  fields
    .filter(({ name }) => !record.missing.has(name))
    .flatMap((field) => {
      const value = record.measures.get(field.name);
      return PERCENTS.map((percent) => ({ percent, other: raisedValue(field, value, percent) }))
        .filter(({ other }) => !isEqual(other, value))
        .map(({ percent, other }) => {
          const { loss, delta, isGaussian } = changeOf(charges, record, field.name, other);
          const [amount, chance] = [toNumber(loss), toNumber(delta)];
          const { power } = isRho ? meaningOfRho(amount, chance) : meaningOfEpsilon(amount);
          const about = isRho && isGaussian ? gaussianPower(amount) : null;
          return { field, percent, value, other, loss, delta, power, about };
        });
    });
