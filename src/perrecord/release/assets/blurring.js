// What blurred totals cost, about (T28): a record moves the number, and with its square the noise of
// its cell. The same as perrecord.laws.blurring but for the last digits.

const NORMALISER = 2 ** -26; // what the integers add to a log ratio
const pureRho = (epsilon) => epsilon * Math.tanh(epsilon / 2);

// A shift that takes the sum of squares from one to another, both of the records that change: the
// distance t, the logarithm of the widening, m, and B of the shift at the wider noise.
const blurredMove = ({ spread, by, nu }, shift, before, after) => {
  const factor = divide(multiply(fraction(BigInt(nu)), raise(by, 2n)), spread);
  const [less, more] = isBelow(after, before) ? [after, before] : [before, after];
  const lesser = 1 + toNumber(multiply(factor, less));
  const apart = toNumber(multiply(factor, subtract(more, less)));
  const larger = 1 + toNumber(multiply(factor, more));
  const [narrow, wide] = [Math.sqrt(lesser), Math.sqrt(larger)];
  const moved = Math.sqrt(toNumber(divide(raise(shift, 2n), spread)));
  const far = Math.hypot(moved, apart / (narrow + wide)) / 2 / Math.sqrt(narrow * wide);
  const [t, log, m] = [2 * Math.asinh(far), Math.log1p(apart / lesser) / 2, (nu + 1) / 2];
  return { t, log, m, epsilon: m * t + (m - 1 + NORMALISER) * log, ratio: moved / 2 / wide };
};

const blurredEpsilon = (noise, ...move) => blurredMove(noise, ...move).epsilon;
const blurredRho = (noise, ...move) => {
  const { t, log, m, epsilon, ratio } = blurredMove(noise, ...move);
  const widened = Math.min(pureRho((2 * m - 1 + NORMALISER) * log), rangeCost(2 * m * log));
  const apart = (Math.sqrt(studentRho(ratio, noise.nu)) + Math.sqrt(widened)) ** 2;
  return Math.min(pureRho(epsilon), rangeCost(2 * m * t), apart);
};

// What a change costs a blurred number: of a record that is there on both sides, or may not be.
const blurredCost = (cell, shifts, isSure) => {
  const noise = { spread: cell.spread, by: cell.by, nu: cell.law === "student3" ? 3 : 7 };
  const cost = isRho ? blurredRho : blurredEpsilon;
  const priced = (...move) => cost(noise, ...move) * ROUNDED_UP;
  const squares = shifts.map((shift) => raise(shift, 2n));
  let found;
  if (isSure) found = priced(subtract(...shifts), ...squares);
  else {
    const apart = shifts.map((shift, place) => priced(shift, ZERO, squares[place]));
    found = isRho ? apart.reduce((all, one) => all + Math.sqrt(one), 0) ** 2 : apart[0] + apart[1];
  }
  return found > 0 ? fromNumber(found * ROUNDED_UP) : ZERO;
};
