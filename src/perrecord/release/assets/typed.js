// What somebody typed as a number: { number } or { problem } in words.

const MOST_DIGITS = 400;
const NO_NUMBER =
  "This is not a number. Write it in digits, such as 1500000 or 12.5, with a point for decimals.";
const UNCLEAR =
  "It is not clear which number is meant. Write 1500000 or 1,500,000, and decimals with a point: 12.5.";

// The text without the field's own unit before or behind it, as in "$2,000,000" and "2 000 000 kg".
// A unit with digits in it could be part of the number, and is left where it is.
const withoutUnit = (text, unit) => {
  if (!unit || /\d/.test(unit) || !/[^\s.,'_+-]/.test(unit)) return text;
  const [, sign, rest] = /^([+-]?)([^]*)$/.exec(text);
  if (rest.startsWith(unit)) return sign + rest.slice(unit.length).trim();
  if (rest.endsWith(unit)) return sign + rest.slice(0, -unit.length).trim();
  return text;
};

// Thousands apart by one sign throughout, in groups of three: 1,500,000 or 1 500 000.
const GROUPED = /^[+-]?\d{1,3}(?:([,\s'_\u2019])\d{3})(?:\1\d{3})*(?:\.\d*)?$/;
const typedNumber = (typed, unit = "") => {
  const text = withoutUnit(typed.trim().replace(/\u2212/g, "-"), unit.trim());
  const joined = GROUPED.test(text) ? text.replace(/[,\s'_\u2019]/g, "") : text;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(joined))
    return { problem: /^[+-]?\d[\d.,\s'_\u2019]*$/.test(joined) ? UNCLEAR : NO_NUMBER };
  const exponent = Math.abs(Number(joined.split(/e/i)[1] ?? 0));
  if (joined.length + exponent > MOST_DIGITS)
    return { problem: "This number is too long to be what was meant." };
  return { number: exact(joined) };
};
