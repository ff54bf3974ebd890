// What somebody who knows every other record could find out from this release (T19): the same
// figures as perrecord.release.attack, from the noise that the policy states.

const compiledCells = (cells) =>
  cells.dimensions
    ? compiledCases(cells, "cells", compiledCells)
    : {
        law: cells.law,
        isGaussian: cells.law === "gaussian",
        information: divide(ONE, exact(cells.variance)),
        spread: exact(cells.spread),
        step: exact(cells.step),
        bounds: cells.bounds === null ? null : cells.bounds.map(exact),
        by: cells.blurred_by === undefined ? null : exact(cells.blurred_by),
      };
const compiledNoise = (noise) => ({ ...noise, cells: compiledCells(noise.cells) });

// The noise of the record's own cell, or null where the record does not enter.
const cellOf = (noise, record) => {
  let found = noise.cells;
  while (found?.dimensions) {
    const key = keyOf(found.dimensions.map((name) => record.dimensions.get(name)));
    found = found.cases.get(key) ?? found.fallback;
  }
  return found;
};

const enteredBy = (charge, record) =>
  charge.noise
    .map((noise) => ({ noise, charge, cell: cellOf(noise, record) }))
    .filter(({ cell }) => cell !== null);

const isEqual = (a, b) => a.top === b.top && a.bottom === b.bottom;
const cutTo = (bounds, value) => {
  if (bounds === null) return value;
  const [low, high] = bounds;
  return isBelow(value, low) ? low : isBelow(high, value) ? high : value;
};

// How far the record moves a number of records or of values.
const shiftOf = ({ noise, cell }, record) => {
  if (noise.measure !== null && record.missing.has(noise.measure)) return ZERO;
  if (noise.moved !== "values") return ONE;
  const value = cutTo(cell.bounds, record.measures.get(noise.measure));
  if (!noise.centred || cell.bounds === null) return value;
  return subtract(value, multiply(fraction(1n, 2n), sum(cell.bounds)));
};

// What the record really loses, sum of shift^2 / (2 sigma^2); null unless every answer that it
// enters is a number with Gaussian noise of at least ten steps, and certainly moved by it.
const LEAST_VARIANCE = fraction(100n);
const shiftedLoss = (charges, shares, record) => {
  let loss = ZERO;
  for (const [index, charge] of charges.entries()) {
    if (charge.noise.length === 0 && shares[index].loss.top > 0n) return null; // it is chosen
    for (const entered of enteredBy(charge, record)) {
      const { noise, cell } = entered;
      const shift = shiftOf(entered, record);
      if (shift.top === 0n) continue;
      const steps = divide(cell.spread, raise(cell.step, 2n));
      const isKnown = cell.isGaussian && noise.moved !== "pieces" && noise.certain;
      if (!isKnown || isBelow(steps, LEAST_VARIANCE)) return null;
      loss = add(loss, divide(raise(shift, 2n), multiply(fraction(2n), cell.spread)));
    }
  }
  return loss;
};

// Whether the measure alone decides how many pieces the scheme makes: no floor, no cap.
const drives = (split, record, name) => {
  const { thresholds, cap } = plainSplit(split, record);
  const parts = thresholds.map(([each, limit]) => [
    each,
    ceiling(divide(absolute(record.measures.get(each)), limit)),
  ]);
  const most = parts.reduce((best, [, count]) => (count > best ? count : best), 0n);
  const isMost = parts.some(([each, count]) => each === name && count === most);
  return isMost && most > 1n && (cap === null || most <= cap);
};

// 1 / variance in a cell that holds a record of this value and no other.
const informationWith = ({ information, by, law }, value) => {
  if (by === null) return information;
  const own = multiply(raise(by, 2n), raise(value, 2n));
  const more = multiply(law === "student3" ? fraction(3n) : fraction(7n, 5n), own);
  return divide(ONE, add(divide(ONE, information), more));
};

// What a published number adds to 1 / error^2 of a measure: 1 / variance; or null.
const informationAbout = (name, { noise, cell, charge }, record) => {
  const value = record.measures.get(name);
  if (noise.moved === "values")
    return noise.measure === name && isEqual(cutTo(cell.bounds, value), value)
      ? informationWith(cell, value)
      : null;
  if (noise.moved === "records") return null;
  for (const { split } of slotsOf(charge.form, record)) {
    if (split !== null && drives(split, record, name)) {
      const limit = new Map(plainSplit(split, record).thresholds).get(name);
      return divide(cell.information, raise(limit, 2n));
    }
  }
  return null;
};

// For each measure that the record has: { field, error, relative, isLeast, isCut }.
const estimatesOf = (charges, record, fields) =>
  fields
    .filter(({ name }) => !record.missing.has(name))
    .map((field) => {
      let [information, isLeast, isCut] = [ZERO, false, false];
      for (const entered of charges.flatMap((charge) => enteredBy(charge, record))) {
        const { noise } = entered;
        const told = informationAbout(field.name, entered, record);
        if (told !== null) {
          information = add(information, told);
          isLeast = isLeast || !noise.certain;
        } else if (noise.moved === "values" && noise.measure === field.name) isCut = true;
      }
      const own = toNumber(absolute(record.measures.get(field.name)));
      const error = information.top === 0n ? null : Math.sqrt(toNumber(divide(ONE, information)));
      const relative = error === null || own === 0 ? null : error / own;
      return { field, error, relative, isLeast, isCut };
    });
