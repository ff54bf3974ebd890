// What a record's loss means, in words.

const VERDICTS = [
  [0.1, "Very well protected"],
  [0.25, "Well protected"],
  [0.6, "Moderately protected"],
  [0.95, "Weakly protected"],
  [Infinity, "Hardly protected"],
];
const verdictOf = (power) => VERDICTS.find(([most]) => power <= most)[1];

const comparison = (loss) => {
  if (least.top === 0n)
    return loss.top === 0n
      ? "Nothing at all; no record can lose less."
      : "Some records lose nothing at all.";
  if (loss.top * least.bottom === least.top * loss.bottom)
    return `The least that any record can lose.`;
  return `${times(toNumber(divide(loss, least)))} the least that any record can lose, which is ${brief(least)}.`;
};

const inHundred = (probability) =>
  isNearlyCertain(probability) ? "100" : figure(100 * probability, probability > 0.99 ? 4 : 2);

const aboutHundred = (probability) => {
  if (probability > 0.995) return "100";
  return figure(100 * probability, probability > 0.99 ? 3 : 2, Math.round);
};

// How often a test succeeds, at most and about if that is known; `does` is what it does.
const succeeds = (does, power, about) => {
  const most = isNearlyCertain(power) ? null : `${inHundred(power)} times in 100`;
  const blind = " Blind guessing gives 5.";
  if (about === null)
    return most === null
      ? [`There is no useful limit: they may ${does} `, strong("practically every time"), "."]
      : [`They would ${does} at most `, strong(most), ".", blind];
  const often = about > 0.995 ? "practically every time" : `about ${aboutHundred(about)} times in 100`;
  const limit = most === null ? "" : ` The policy promises that it is at most ${most}, whatever they try.`;
  return [`They would ${does} `, strong(often), ".", limit, limit && blind];
};

const isThere = ({ meaning, about }) => [
  "Suppose they know every other record, and accept 5 false alarms in 100. ",
  ...succeeds("recognise this one", meaning.power, about),
];

// "$79", "79 people"
const isSign = (unit) => /^[$\u00a3\u00a5\u20ac]$/.test(unit);
const withUnit = (text, unit) => {
  if (!unit) return [text];
  return isSign(unit) ? [`${unit}${text}`] : [text, " ", isolated(unit)];
};

// "Employees: could someone tell 4,000 from 4,400 people?", "Payroll: could someone tell $80 from $88?"
const toldApart = ({ field, value, other, loss, power, about }, estimate) => {
  const question = [
    isolated(labelOf(field)),
    ": could someone tell ",
    ...withUnit(shown(value), isSign(field.unit) ? field.unit : ""),
    " from ",
    ...withUnit(shown(other), field.unit),
    "?",
  ];
  if (loss.top === 0n)
    return [question, ["No. Everything that is published would come out alike."]];
  const half = estimate && estimate.relative !== null ? TEST_POINT * estimate.relative : null;
  const nearest =
    half === null || half > 1
      ? ""
      : ` A value that differs by ${estimate.isLeast ? "at least " : ""}about ${figure(100 * half, 2, Math.round)} % would be told from it half the time.`;
  return [
    question,
    [
      "Suppose they know everything but which of the two it is, and accept 5 false alarms in 100. ",
      ...succeeds("tell them apart", power, about),
      ` The difference costs a loss of ${brief(loss)}.`,
      nearest,
    ],
  ];
};

// Odds beyond this limit nothing that anybody could imagine, and are left out.
const USEFUL_ODDS = 10;
const sharpened = ({ meaning }) => [
  isRho ? "In 95 of 100 cases the" : "The",
  " published figures multiply the odds of the right answer, that the record is in the data or that it is not, by at most ",
  strong(figure(meaning.odds, 2)),
  ".",
];

const estimated = ({ field, error, relative, isLeast, isCut }) => {
  if (error === null)
    return isCut
      ? ["Values are cut to a limit before they are added up. Nothing that is published tells how far beyond it this one lies."]
      : ["Nothing that is published adds it up."];
  if (3 * error < toNumber(exact(field.resolution)))
    return ["Someone who knows every other record could work it out ", strong("practically exactly"), "."];
  const isMore = relative !== null && relative > 1;
  const share = relative === null || isMore ? "" : ` (±${figure(100 * relative, 2, Math.round)} %)`;
  return [
    isMore ? "Hardly. " : "",
    `Someone who knows every other record would typically be off by ${isLeast ? "at least " : ""}about `,
    make("strong", {}, "±", ...withUnit(figure(error, 2, Math.round), field.unit)),
    share,
    isMore ? `, ${figure(relative, 2, Math.round)} times the value itself.` : ".",
  ];
};

const meaningItems = (found) => {
  const { meaning, estimates, changes, delta, slots } = found;
  const items = [["Could someone tell that this record is in the data?", isThere(found)]];
  if (meaning.odds <= USEFUL_ODDS)
    items.push(["How far could a guess about that be sharpened?", sharpened(found)]);
  for (const each of estimates ?? [])
    items.push([
      [isolated(labelOf(each.field)), ": how closely could someone estimate it?"],
      estimated(each),
    ]);
  for (const each of (changes ?? []).filter(({ percent }) => percent === 10n))
    items.push(toldApart(each, estimates?.find(({ field }) => field === each.field)));
  for (const field of changes === null ? [] : measures.filter(decides))
    items.push([
      [isolated(labelOf(field)), ": could someone tell it from a greater value?"],
      [
        "That cannot be said here: ",
        ...data.deciding[field.name].flatMap((name, i) => [i ? ", " : "", isolated(nameOf(name))]),
        " may change with it.",
      ],
    ]);
  if (estimates === null)
    items.push([
      "How closely could someone estimate its values?",
      ["This policy does not state the noise of every answer, so that cannot be said here."],
    ]);
  if (slots.length) {
    const keys = [...new Set(slots.flatMap(({ slot }) => slot.keys))];
    items.push([
      "Could it give away that its group exists?",
      [
        "Groups are listed only where the data has enough. If this record were alone in its group (",
        ...keys.flatMap((key, i) => [i ? ", " : "", isolated(nameOf(key))]),
        "), the group would be listed, and the record thereby revealed, ",
        ...(isNearlyCertain(toNumber(delta))
          ? [strong("almost certainly")]
          : ["with a chance of at most ", strong(chance(toNumber(delta)))]),
        ".",
      ],
    ]);
  }
  return items;
};

// "Employees up to 50 people and Annual payroll up to 5,000,000 dollars"
const limitsText = (thresholds) =>
  thresholds.flatMap(([name, limit], i) => {
    const { unit } = data.fields.find((field) => field.name === name);
    return [
      i ? " and " : "",
      isolated(nameOf(name)),
      " up to ",
      ...withUnit(shown(limit), unit),
    ];
  });
