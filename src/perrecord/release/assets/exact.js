// Exact numbers: fractions of BigInts in lowest terms. Floats are met in the last two alone.

const greatestDivisor = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a;
};

const size = (whole) => (whole < 0n ? -whole : whole);

const fraction = (top, bottom = 1n) => {
  const divisor = greatestDivisor(size(top), bottom) || 1n;
  return { top: top / divisor, bottom: bottom / divisor };
};

const ZERO = fraction(0n);
const ONE = fraction(1n);

const add = (a, b) => fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
const subtract = (a, b) => fraction(a.top * b.bottom - b.top * a.bottom, a.bottom * b.bottom);
const multiply = (a, b) => fraction(a.top * b.top, a.bottom * b.bottom);
const divide = (a, b) => fraction(a.top * b.bottom, a.bottom * b.top); // b is positive
const absolute = (a) => ({ top: size(a.top), bottom: a.bottom });
const raise = (a, power) => ({ top: a.top ** power, bottom: a.bottom ** power });
const isBelow = (a, b) => a.top * b.bottom < b.top * a.bottom;
const sum = (numbers) => numbers.reduce(add, ZERO);

// Rounding on integers: floats would give ceil(0.7000000000000001 / 0.1) = 7 (T15).
const ceiling = (a) => (a.top + a.bottom - 1n) / a.bottom; // of what is not negative
const roundHalfAway = (a) => {
  const whole = (2n * size(a.top) + a.bottom) / (2n * a.bottom);
  return a.top < 0n ? -whole : whole;
};

// "0.1", "1/3" or "1e-6", exactly as it is written.
const exact = (written) => {
  const [whole, over] = written.split("/");
  if (over !== undefined) return fraction(BigInt(whole), BigInt(over));
  const [digits, exponent = "0"] = whole.toLowerCase().split("e");
  const [before, after = ""] = digits.split(".");
  const places = BigInt(after.length) - BigInt(exponent);
  const sign = before.startsWith("-") ? -1n : 1n;
  const top = sign * BigInt(before.replace(/^[+-]/, "") + after || "0");
  return places > 0n ? fraction(top, 10n ** places) : fraction(top * 10n ** -places);
};

const written = (a) => (a.bottom === 1n ? `${a.top}` : `${a.top}/${a.bottom}`);

// A fraction that ends, as decimal text.
const decimal = (a) => {
  let places = 0;
  while ((a.top * 10n ** BigInt(places)) % a.bottom) places += 1;
  const digits = `${size((a.top * 10n ** BigInt(places)) / a.bottom)}`.padStart(places + 1, "0");
  const text = places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits;
  return a.top < 0n ? `-${text}` : text;
};

const bits = (whole) => whole.toString(2).length;

// The nearest float, near enough for figures that people read.
const toNumber = (a) => {
  if (a.top === 0n) return 0;
  const shift = 64 - bits(size(a.top)) + bits(a.bottom);
  const quotient =
    shift >= 0
      ? (size(a.top) << BigInt(shift)) / a.bottom
      : size(a.top) / (a.bottom << BigInt(-shift));
  // Two steps, so that 2^-shift itself neither over- nor underflows.
  const half = Math.trunc(shift / 2);
  const value = Number(quotient) * 2 ** -half * 2 ** -(shift - half);
  return a.top < 0n ? -value : value;
};

// A positive float as a fraction, exactly; below 2^-900 it is taken for 2^-900.
const fromNumber = (value) => {
  const places = Math.min(900, Math.max(0, 52 - Math.floor(Math.log2(value))));
  const half = Math.trunc(places / 2);
  return fraction(BigInt(Math.ceil(value * 2 ** half * 2 ** (places - half))), 1n << BigInt(places));
};
