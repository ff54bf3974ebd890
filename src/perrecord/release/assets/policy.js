// The policy itself: P(r), pieces and delta, exactly as docs/policy-format.md defines them.
// A record is { measures: Map of fractions, dimensions: Map of tagged text }; "t11", "i11", "b1"
// and "n" (no value) differ, as 11, "11" and true do in every database.

class NotCovered extends Error {
  constructor(dimensions) {
    super("no rule covers this record");
    this.dimensions = dimensions;
  }
}

const keyOf = (tags) => JSON.stringify(tags);

const compiledCases = (table, what, compile) => ({
  dimensions: table.dimensions,
  cases: new Map(table.cases.map((each) => [keyOf(each.when), compile(each[what])])),
  fallback: table.default === null ? null : compile(table.default),
});

const chosen = (table, record) => {
  const found = table.cases.get(keyOf(table.dimensions.map((name) => record.dimensions.get(name))));
  if (found !== undefined) return found;
  if (table.fallback === null) throw new NotCovered(table.dimensions);
  return table.fallback;
};

const compiledSplit = (split) =>
  split.dimensions
    ? compiledCases(split, "split", compiledSplit)
    : {
        thresholds: Object.entries(split.thresholds).map(([name, limit]) => [name, exact(limit)]),
        cap: split.cap === null ? null : BigInt(split.cap),
      };

// What a function of the record gives, or null where no rule covers the record.
const unlessNotCovered = (compute) => {
  try {
    return compute();
  } catch (error) {
    if (error instanceof NotCovered) return null;
    throw error;
  }
};

const plainSplit = (split, record) =>
  split.thresholds ? split : plainSplit(chosen(split, record), record);

// { count, thresholds, cap, measure }: measure is the one that decides, if any does.
const piecesOf = (split, record) => {
  const { thresholds, cap } = plainSplit(split, record);
  let [count, measure] = [1n, null];
  for (const [name, limit] of thresholds) {
    const parts = ceiling(divide(absolute(record.measures.get(name)), limit));
    if (parts > count) [count, measure] = [parts, name];
  }
  return { count: cap !== null && count > cap ? cap : count, thresholds, cap, measure };
};

const compiledForm = (form, context) => ({
  terms: form.terms.map((term) => compiledTerm(term, context)),
  slots: form.slots.map((slot) => ({
    keys: slot.keys,
    rho: exact(slot.rho),
    split: slot.split === null ? null : context.splits[slot.split],
    curve: context.curves.get(`${slot.rho} ${slot.threshold}`),
    threshold: slot.threshold,
  })),
});

const compiledTerm = (term, context) => {
  switch (term.type) {
    case "constant":
      return { type: "constant", amount: exact(term.amount) };
    case "split":
      return { type: "split", amount: exact(term.amount), split: context.splits[term.split] };
    case "exact":
      return { ...term, amount: exact(term.amount), threshold: exact(term.threshold) };
    case "tapered":
    case "tapered_epsilon":
      return {
        type: "tapered",
        amount: exact(term.amount),
        measure: term.measure,
        growth: term.type === "tapered" ? studentRho : studentEpsilon,
        width: 2 * Math.sqrt(toNumber(exact(term.spread))),
        nu: Number(term.nu),
      };
    case "blurred":
    case "blurred_epsilon":
      return {
        type: "blurred",
        amount: exact(term.amount),
        measure: term.measure,
        cost: term.type === "blurred" ? blurredRho : blurredEpsilon,
        noise: { spread: exact(term.spread), by: exact(term.by), nu: Number(term.nu) },
      };
    case "weighed":
      return {
        type: "weighed",
        amount: exact(term.amount),
        measure: term.measure,
        rate: Math.sqrt(8 * toNumber(exact(term.rho))) / toNumber(exact(term.at)),
      };
    case "largest":
      return { type: "largest", options: term.options.map((form) => compiledForm(form, context)) };
    case "by":
      return {
        type: "by",
        table: compiledCases(term, "policy", (form) => compiledForm(form, context)),
      };
    default:
      throw new Error(`unknown term ${term.type}`);
  }
};

// What Student noise costs at B = |value| / (2 sqrt A), about (T26); no power of B overflows.
const studentEpsilon = (b, nu) => (nu + 1) * Math.asinh(b);
const studentRho = (b, nu) => {
  const [a, u, onIntegers] = [Math.asinh(b), 1 / (1 + b * b), 1 + 2 ** -26];
  const slow = 4 * onIntegers * a * Math.tanh(a);
  return nu === 3 ? slow : slow * (2 - u) * (1 + u + 0.8 * u * u);
};
// What log ratios that vary within eta cost: f(eta) = y - 1 - ln y, y = eta / (1 - exp(-eta)) (T38).
const rangeCost = (eta) => {
  const [square, y] = [eta * eta, eta / -Math.expm1(-eta)];
  if (eta >= 0.2) return y - 1 - Math.log(y);
  return square * (1 / 8 - square * (1 / 576 - square * (1 / 25920 - square / 1075200)));
};
const ROUNDED_UP = 1 + 2 ** -40; // more than all roundings of floats can have taken off

const lossOf = (form, record, power) =>
  sum(form.terms.map((term) => termLoss(term, record, power)));

const termLoss = (term, record, power) => {
  switch (term.type) {
    case "constant":
      return term.amount;
    case "split":
      return multiply(term.amount, fraction(piecesOf(term.split, record).count ** power));
    case "exact": {
      const ratio = divide(absolute(record.measures.get(term.measure)), term.threshold);
      return multiply(term.amount, raise(ratio, power));
    }
    case "tapered": {
      const own = absolute(record.measures.get(term.measure));
      if (own.top === 0n) return ZERO;
      const grown = term.growth(toNumber(own) / term.width, term.nu);
      return multiply(term.amount, fromNumber(grown * ROUNDED_UP));
    }
    case "blurred": {
      const own = absolute(record.measures.get(term.measure));
      if (own.top === 0n) return ZERO;
      const grown = term.cost(term.noise, own, ZERO, raise(own, 2n));
      return multiply(term.amount, fromNumber(grown * ROUNDED_UP));
    }
    case "weighed": {
      const own = absolute(record.measures.get(term.measure));
      if (own.top === 0n) return ZERO;
      return multiply(term.amount, fromNumber(rangeCost(term.rate * toNumber(own)) * ROUNDED_UP));
    }
    case "largest":
      return term.options
        .map((option) => lossOf(option, record, power))
        .reduce((best, next) => (isBelow(best, next) ? next : best));
    default:
      return lossOf(chosen(term.table, record), record, power);
  }
};

// The key selections that the record takes part in.
const slotsOf = (form, record) => [
  ...form.slots,
  ...form.terms.flatMap((term) =>
    term.type === "by" ? slotsOf(chosen(term.table, record), record) : [],
  ),
];

const slotPieces = (slot, record) =>
  slot.split === null ? 1n : piecesOf(slot.split, record).count;

// delta(m): that of the first point not below m; beyond the last point 1.
const deltaAt = (curve, pieces) => {
  let [low, high] = [0, curve.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve[middle].pieces < pieces) low = middle + 1;
    else high = middle;
  }
  return low < curve.length ? curve[low].delta : ONE;
};

const deltaOf = (form, record) =>
  subtract(
    ONE,
    slotsOf(form, record)
      .map((slot) => subtract(ONE, deltaAt(slot.curve, slotPieces(slot, record))))
      .reduce(multiply, ONE),
  );
