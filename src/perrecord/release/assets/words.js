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

const USEFUL_ODDS = 1e6;
const sharpened = ({ meaning, replaced }) => {
  if (!(meaning.odds < USEFUL_ODDS))
    return [
      strong("There is no useful limit"),
      ": the published figures may turn a guess about this record into near certainty.",
    ];
  const often = isRho ? "In 95 of 100 cases the" : "The";
  return [
    `${often} published figures multiply the odds of a guess about whether this record is in the data by less than `,
    strong(figure(meaning.odds, 2)),
    ". A guess about its size can be sharpened more",
    ...(replaced !== null && replaced < USEFUL_ODDS
      ? [
          ": by less than ",
          strong(figure(replaced, 2)),
          " between this record and one that loses the least, and by more between it and a large one.",
        ]
      : ["."]),
  ];
};

const meaningItems = (found) => {
  const { meaning, precision, delta, slots } = found;
  const items = [
    [
      "Could someone tell that this record is in the data?",
      [
        "Suppose they know every other record, and accept 5 false alarms in 100. ",
        ...(isNearlyCertain(meaning.power)
          ? ["They may recognise this one ", strong("practically every time")]
          : [
              "They would recognise this one at most ",
              strong(`${inHundred(meaning.power)} times in 100`),
            ]),
        ". Blind guessing gives 5.",
      ],
    ],
    ["How far could a guess about it be sharpened?", sharpened(found)],
  ];
  for (const { field, ratio } of precision) {
    const percent = `±${figure(100 * ratio, 2, Math.floor)} %`;
    items.push([
      [isolated(labelOf(field)), ": how closely could someone estimate it?"],
      ratio > 1
        ? [
            "Hardly: even knowing every other record, they would be off by about ",
            strong(percent),
            ", more than the value itself.",
          ]
        : ["Knowing every other record, to within about ", strong(percent), "."],
    ]);
  }
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
    const { unit } = measures.find((field) => field.name === name);
    return [
      i ? " and " : "",
      isolated(nameOf(name)),
      ` up to ${shown(limit)}`,
      ...(unit ? [" ", isolated(unit)] : []),
    ];
  });
