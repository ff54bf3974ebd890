// The form: one control per field, read as an exact number or a tagged value.

const make = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") node.textContent = value;
    else if (value !== false && value !== null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children); // strings become text, never markup
  return node;
};

const isolated = (text) => make("bdi", { text }); // a name's writing direction stays its own
const strong = (text) => make("strong", { text });

const labelOf = (field) => field.label || field.name;

const tagText = (tag) => {
  if (tag === "n") return "no value";
  if (tag[0] === "b") return tag === "b1" ? "yes" : "no";
  return tag.slice(1) || "(empty text)";
};

// What a value on the list is called; nothing where it has no name.
const calledBy = (field, tag) => (field.names ? field.names[field.values.indexOf(tag)] || "" : "");

const namedText = (field, tag) => {
  const name = calledBy(field, tag);
  return name ? `${tagText(tag)}: ${name}` : tagText(tag);
};

const tagged = (field, typed) => {
  if (field.kind === "text") return { tag: `t${typed}` };
  if (/^\s*[+-]?\d{1,400}\s*$/.test(typed))
    return { tag: `i${BigInt(typed.trim().replace("+", ""))}` };
  return { problem: "Write a whole number, such as 11." };
};

const NO_CASE = "No case of the policy names this value; the default applies.";
const UNLISTED = "Not on the public list of values, but the policy names it.";
const MISSING = "Nothing entered: counted as a missing value.";
const MOST_OPTIONS = 12;

// What there is to say of a value that may be on no list; a field that no case reads has none.
const noteOn = (field, tag) => {
  if (tag === undefined || field.values.includes(tag)) return "";
  if (!field.named.has(tag)) return NO_CASE;
  return field.values.length ? UNLISTED : "";
};

const selectControl = (field, id) => {
  const select = make("select", { id });
  field.values.forEach((tag, index) =>
    select.append(make("option", { value: index, dir: "auto", text: namedText(field, tag) })),
  );
  if (field.kind !== "truth")
    select.append(make("option", { value: "other", text: "another value …" }));
  if (!field.values.includes("n"))
    select.append(make("option", { value: "none", text: "no value (missing)" }));
  const other = make("input", {
    type: "text",
    id: `${id}-other`,
    "aria-label": `${labelOf(field)}: the other value`,
    dir: "auto",
    autocomplete: "off",
    hidden: true,
  });
  const read = () => {
    other.hidden = select.value !== "other";
    if (select.value === "none") return { tag: "n" };
    if (select.value !== "other") return { tag: field.values[Number(select.value)] };
    const found = tagged(field, other.value);
    return { ...found, note: noteOn(field, found.tag) };
  };
  return {
    nodes: [select, other],
    main: select,
    read,
    start: () => {
      select.selectedIndex = 0;
      other.value = "";
    },
    put: (tag) => {
      const place = field.values.indexOf(tag);
      select.value = place >= 0 ? `${place}` : tag === "n" ? "none" : "other";
      other.value = select.value === "other" ? tag.slice(1) : "";
    },
  };
};

const listControl = (field, id) => {
  const list = make("datalist", { id: `${id}-list` });
  const byText = new Map();
  const byTag = new Map();
  const add = (text, tag) => {
    byText.set(text, tag);
    byTag.set(tag, text);
    list.append(make("option", { value: text, label: calledBy(field, tag) || false }));
  };
  // A text field holds no ends of lines, and nothing in it means a missing value: such values are
  // shown by signs, and never as another value's text.
  const isTyped = (tag) => tag !== "t" && !/[\r\n]/.test(tag);
  const every = [...(field.values.length ? field.values : field.named)].filter((tag) => tag !== "n");
  for (const tag of every.filter(isTyped)) add(tagText(tag), tag);
  for (const tag of every.filter((each) => !isTyped(each))) {
    let text = tagText(tag).replace(/\r\n?|\n/g, "\u21b5");
    while (byText.has(text)) text += "\u21b5";
    add(text, tag);
  }
  const input = make("input", {
    type: "text",
    id,
    list: list.id,
    dir: "auto",
    autocomplete: "off",
    spellcheck: "false",
  });
  const read = () => {
    if (input.value === "") return { tag: "n", note: MISSING };
    if (byText.has(input.value)) return { tag: byText.get(input.value) };
    const found = tagged(field, input.value);
    return { ...found, note: noteOn(field, found.tag) };
  };
  const hint = byText.size
    ? `Type to search ${byText.size === 1 ? "the one value" : `${grouped(`${byText.size}`)} values`}, or write another.`
    : "";
  return {
    nodes: [input, list],
    main: input,
    hint,
    read,
    start: () => {
      input.value = [...byText.keys()][0] ?? "";
    },
    put: (tag) => {
      input.value = tag === "n" ? "" : (byTag.get(tag) ?? tag.slice(1));
    },
  };
};

// A measure as it is counted, from what was typed: { number, missing, note } or { problem }.
const readMeasure = (field, typed) => {
  if (typed.trim() === "")
    return { number: ZERO, missing: true, note: "Nothing entered: counted as 0." };
  const { number, problem } = typedNumber(typed, field.unit);
  return problem ? { problem } : counted(field, number);
};

// An exact number as a table counts it: on the grid of its measure, and within its range.
const counted = (field, number) => {
  const [step, largest] = [exact(field.resolution), BigInt(field.largest)];
  const steps = roundHalfAway(divide(number, step));
  if (size(steps) > largest) {
    const most = multiply(fraction(largest), step);
    if (field.outside === "null")
      return {
        number: ZERO,
        missing: true,
        note: `Beyond ${shown(most)}, the most that this table counts: treated as missing, which counts as 0.`,
      };
    return {
      number: steps < 0n ? subtract(ZERO, most) : most,
      note: `Beyond ${shown(most)}, the most that this table counts: cut to it.`,
    };
  }
  const rounded = multiply(fraction(steps), step);
  const isRounded = isBelow(rounded, number) || isBelow(number, rounded);
  const note = isRounded
    ? `Rounded to steps of ${shown(step)}: counted as ${shown(rounded)}.`
    : "";
  return { number: rounded, note };
};

const measureControl = (field, id, example) => {
  const input = make("input", { type: "text", id, inputmode: "decimal", autocomplete: "off" });
  const read = () => readMeasure(field, input.value);
  const nodes = field.unit
    ? [
        make(
          "span",
          { class: "united" },
          input,
          make("span", { class: "unit", dir: "auto", text: field.unit }),
        ),
      ]
    : [input];
  return {
    nodes,
    main: input,
    read,
    start: () => {
      input.value = readable(decimal(example));
    },
    put: (tag) => {
      input.value = tag === "n" ? "" : readable(decimal(exact(tag.slice(1))));
    },
  };
};

// A derived measure is not typed: it shows what follows from the fields before it.
const computedControl = (field, id) => {
  const output = make("output", { id, class: "computed" });
  const read = (record) => {
    const found = computedMeasure(field, record);
    output.textContent = found.missing ? "missing" : `${readable(decimal(found.number))}${field.unit ? ` ${field.unit}` : ""}`;
    return found;
  };
  return { nodes: [output], main: output, read, start: () => {}, put: () => {} };
};

const control = (field, index, example) => {
  const id = `field-${index}`;
  const isShort = field.values && field.values.length > 0 && field.values.length <= MOST_OPTIONS;
  const made =
    field.computed
      ? computedControl(field, id)
      : field.kind === "measure"
      ? measureControl(field, id, example)
      : isShort || field.kind === "truth"
        ? selectControl(field, id)
        : listControl(field, id);
  const note = make("p", { class: "note", id: `${id}-note` });
  const problem = make("p", { class: "problem", id: `${id}-problem`, role: "alert" });
  const definition = field.expression
    ? [
        make(
          "p",
          { class: "note definition", id: `${id}-definition` },
          "Defined as: ",
          make("code", { text: field.expression }),
        ),
      ]
    : [];
  const described = [...definition, note, problem].map((each) => each.id);
  made.main.setAttribute("aria-describedby", described.join(" "));
  made.main.dataset.field = field.name;
  const tell = (noteText = "", problemText = "") => {
    const told = noteText || made.hint || "";
    if (note.textContent !== told) note.textContent = told;
    if (problem.textContent !== problemText) problem.textContent = problemText;
    made.main.setAttribute("aria-invalid", problemText ? "true" : "false");
  };
  const label = make("label", { for: id }, isolated(labelOf(field)));
  return {
    ...made,
    field,
    tell,
    row: make("div", { class: "field" }, label, ...made.nodes, ...definition, note, problem),
  };
};
