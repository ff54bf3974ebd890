// What a loss means: the generic bounds, which hold for every mechanism (T18, T19). Floats, for
// people to read; the same formulas and steps as perrecord.meaning.

const LEVEL = 0.05;
const SMALL_DELTA = 1e-6;
const MARGIN = 1e-9;

// The least over alpha > 1 of alpha P + (ln 1/delta + alpha ln(1 - 1/alpha) - ln(alpha - 1)) / (alpha - 1).
const epsilonOf = (loss) => {
  if (loss === 0) return 0;
  const bound = (logAbove) => {
    const above = Math.exp(logAbove);
    const order = 1 + above;
    const bracket = -Math.log(SMALL_DELTA) + order * (logAbove - Math.log1p(above)) - logAbove;
    return order * loss + bracket / above;
  };
  let best = -40;
  for (let step = -40; step <= 40; step += 0.5) if (bound(step) < bound(best)) best = step;
  let [low, high] = [best - 0.5, best + 0.5];
  const golden = (Math.sqrt(5) - 1) / 2;
  for (let round = 0; round < 40; round += 1) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)];
    if (bound(left) < bound(right)) high = right;
    else low = left;
  }
  const least = bound((low + high) / 2);
  return Math.max(0, least + Math.abs(least) * MARGIN + 1e-12);
};

const meaningOfRho = (loss, delta) => {
  const surprise = Math.log(1 / LEVEL);
  const power =
    loss <= surprise ? Math.exp(-((Math.sqrt(surprise) - Math.sqrt(loss)) ** 2)) * (1 + MARGIN) : 1;
  // What key selection reveals uses up some of the 5 % that may exceed the odds; and a key that is
  // not listed speaks for the record's absence.
  const left = 0.05 - delta;
  const ratio = Math.exp(loss + 2 * Math.sqrt(loss) * Math.sqrt(Math.log(1 / left)));
  return {
    epsilon: epsilonOf(loss),
    delta: delta + (1 - delta) * SMALL_DELTA,
    power: Math.min(1, Math.min(1, power) + delta),
    odds: left > 0 ? (ratio / (1 - delta)) * (1 + MARGIN) : Infinity,
  };
};

// Pure epsilon is its own meaning: every likelihood ratio is within e^epsilon.
const meaningOfEpsilon = (loss) => ({
  epsilon: loss,
  delta: 0,
  power: Math.min(1, LEVEL * Math.exp(loss), 1 - (1 - LEVEL) * Math.exp(-loss)),
  odds: Math.exp(loss),
});

// The upper tail of the standard normal law, from 0 on: a series, then a continued fraction.
const normalTail = (z) => {
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z < 3) {
    let [term, total] = [z, z];
    for (let n = 1; n < 100; n += 1) total += term *= (z * z) / (2 * n + 1);
    return 0.5 - density * total;
  }
  let rest = z;
  for (let n = 100; n >= 1; n -= 1) rest = z + n / rest;
  return density / rest;
};

// Phi(Phi^-1(5 %) + sqrt(2 P)): the best test of a Gaussian shift.
const TEST_POINT = 1.6448536269514722;
const gaussianPower = (loss) => {
  const z = Math.sqrt(2 * loss) - TEST_POINT;
  return z < 0 ? normalTail(-z) : 1 - normalTail(z);
};
