// Numbers for people.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// Decimal text with its thousands apart, as `typedNumber` reads it back.
const readable = (text) => {
  const [whole, rest] = text.split(".");
  return grouped(whole) + (rest ? `.${rest}` : "");
};

const powerOfTen = (exponent) =>
  "10" + (exponent < 0 ? "⁻" : "") + [...`${Math.abs(exponent)}`].map((d) => SUPERSCRIPTS[d]).join("");

// A float to a few digits: 0.0123, 1.9, 1,235, 1.2 × 10¹⁸.
const figure = (value, digits = 4) => {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "beyond all bounds";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= 15 || exponent < -6) {
    const [mantissa, power] = value.toExponential(Math.min(digits - 1, 2)).split("e");
    return `${Number(mantissa)} × ${powerOfTen(Number(power))}`;
  }
  const places = Math.max(0, digits - 1 - exponent);
  const [whole, rest = ""] = value.toFixed(places).split(".");
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
      return (a.top < 0n ? "−" : "") + grouped(digits.slice(0, -places)) + "." + digits.slice(-places);
    }
  }
  return figure(toNumber(a));
};

// A probability: 13 %, 0.04 %, 1 in 9,100,000.
const chance = (probability) => {
  if (probability <= 0) return "0 %";
  if (probability >= 1) return "100 %";
  if (probability > 0.9999) return "over 99.99 %";
  if (probability >= 0.001) return `${figure(100 * probability, probability > 0.99 ? 4 : 2)} %`;
  return probability < 1e-15 ? `1 in ${figure(1 / probability, 2)}` : `1 in ${grouped(`${Number((1 / probability).toPrecision(2))}`)}`;
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
  const [step, word] = exponent < 9 ? [6, "million"] : exponent < 12 ? [9, "billion"] : [12, "trillion"];
  return `${10 ** (exponent - step)} ${word}`;
};
