// Numbers for people.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// Decimal text with its thousands apart, as `typedNumber` reads it back.
const readable = (text) => {
  const [whole, rest] = text.split(".");
  return grouped(whole) + (rest ? `.${rest}` : "");
};

const powerOfTen = (exponent) =>
  "10" +
  (exponent < 0 ? "⁻" : "") +
  [...`${Math.abs(exponent)}`].map((d) => SUPERSCRIPTS[d]).join("");

// A float to a few digits: 0.0123, 1.9, 1,235, 1.2 × 10¹⁸. Rounded up, since most figures here are
// bounds that must hold as they are printed; the margin forgives the float's own last digits.
const figure = (value, digits = 4, round = Math.ceil) => {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "beyond all bounds";
  const margin = round === Math.ceil ? 1 - 1e-12 : 1 + 1e-12;
  const rounded = (x, places) => (round(x * margin * 10 ** places) / 10 ** places).toFixed(places);
  const exponent = Math.floor(Math.log10(value));
  if (exponent >= 15 || exponent < -6) {
    return `${Number(rounded(value / 10 ** exponent, Math.min(digits - 1, 2)))} × ${powerOfTen(exponent)}`;
  }
  const [whole, rest = ""] = rounded(value, Math.max(0, digits - 1 - exponent)).split(".");
  const kept = rest.replace(/0+$/, "");
  return grouped(whole) + (kept ? `.${kept}` : "");
};

// A fraction: exactly where that is short, else to a few digits.
const shown = (a) => {
  if (a.bottom === 1n && size(a.top) < 10n ** 15n) return grouped(`${a.top}`);
  for (let places = 1; places <= 6; places += 1) {
    const scaled = a.top * 10n ** BigInt(places);
    if (scaled % a.bottom === 0n && size(scaled) < 10n ** 15n) {
      const digits = `${size(scaled / a.bottom)}`.padStart(places + 1, "0");
      return (
        (a.top < 0n ? "−" : "") + grouped(digits.slice(0, -places)) + "." + digits.slice(-places)
      );
    }
  }
  return (a.top < 0n ? "−" : "") + figure(toNumber(absolute(a)));
};

// A loss: exactly where that is brief, else to four digits.
const brief = (a) => {
  const text = shown(a);
  return text.replace(/\D/g, "").length <= 6 ? text : figure(toNumber(a));
};

// A bound so near 1 that it limits nothing.
const isNearlyCertain = (probability) => probability > 0.9999;

// A probability that is a bound: 13 %, 0.04 %, 1 in 9,100,000, nearly 100 %.
const chance = (probability) => {
  if (probability <= 0) return "0 %";
  if (isNearlyCertain(probability)) return "nearly 100 %";
  if (probability >= 0.001) return `${figure(100 * probability, probability > 0.99 ? 4 : 2)} %`;
  const one = 1 / probability;
  const step = 10 ** (Math.floor(Math.log10(one)) - 1);
  return `1 in ${one < 1e15 ? grouped(`${Math.floor(one / step) * step}`) : figure(one, 2, Math.floor)}`;
};

// How many times: 6.3 times, 1,200 times, over a million times.
const times = (ratio) => {
  if (!Number.isFinite(ratio)) return "any number of times";
  if (ratio >= 1e6) return `over ${tick(10 ** Math.floor(Math.log10(ratio)))} times`;
  return `${figure(ratio, ratio < 100 ? 2 : 3)} times`;
};

// A power of ten on an axis: 0.01, 1,000, 1 million.
const tick = (value) => {
  const exponent = Math.round(Math.log10(value));
  if (exponent < -4 || exponent >= 15) return powerOfTen(exponent);
  if (exponent < 0) return (10 ** exponent).toFixed(-exponent);
  if (exponent < 6) return grouped(`${10 ** exponent}`);
  const [step, word] =
    exponent < 9 ? [6, "million"] : exponent < 12 ? [9, "billion"] : [12, "trillion"];
  return `${10 ** (exponent - step)} ${word}`;
};
