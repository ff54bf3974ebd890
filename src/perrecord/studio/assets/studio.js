// Sends forms without leaving the page, shows what changed, and asks for what takes a moment.
"use strict";

const show = (text) => {
  const next = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement;
  const kept = focused && focused.id ? { id: focused.id, value: focused.value } : null;
  const typing = document.getElementById("text");
  const isTyping = typing && typing.value !== typing.defaultValue;
  const isNewSpec = ["version", "count"].some((name) => next.body.dataset[name] !== document.body.dataset[name]);
  for (const part of next.querySelectorAll("[data-panel]")) {
    const here = document.getElementById(part.id);
    if (here && here.innerHTML !== part.innerHTML && !(part.id === "write" && isTyping && !part.querySelector("#typed"))) {
      here.replaceChildren(...document.importNode(part, true).childNodes);
    }
  }
  document.querySelector("header").replaceChildren(...next.querySelector("header").childNodes);
  follow(next, isNewSpec);
  if (next.getElementById("text-details").open) document.getElementById("text-details").open = true;
  document.body.dataset.version = next.body.dataset.version;
  document.body.dataset.count = next.body.dataset.count;
  document.title = next.title;
  const again = kept && document.getElementById(kept.id);
  if (again && document.activeElement !== again) {
    again.focus();
    if (again.select && again.tagName === "INPUT") again.select();
  }
};

// Panels that take a moment keep their last content, dimmed, until the new one is there.
const follow = (next, isNewSpec) => {
  const hadAll = document.querySelector("[data-later]") !== null;
  const hasAll = next.querySelector("[data-later]") !== null;
  if (hadAll !== hasAll) {
    for (const id of ["table", "answers", "follows"]) {
      document.getElementById(id).replaceChildren(...next.getElementById(id).childNodes);
    }
  }
  if (isNewSpec || hadAll !== hasAll) later();
};

let round = 0;
const later = async () => {
  const mine = ++round;
  for (const panel of document.querySelectorAll("[data-later]")) {
    panel.setAttribute("aria-busy", "true");
  }
  for (const panel of document.querySelectorAll("[data-later]")) {
    const answer = await fetch(panel.dataset.later, { headers: { "X-Part": "1" } });
    if (mine !== round) return;
    if (!answer.ok) continue;
    const open = [...panel.querySelectorAll("details[open]")].map((each) => each.id);
    const part = new DOMParser().parseFromString(await answer.text(), "text/html");
    const focused = panel.contains(document.activeElement) ? document.activeElement.id : "";
    panel.replaceChildren(...part.body.childNodes);
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
    for (const id of open) if (id) document.getElementById(id).open = true;
    panel.setAttribute("aria-busy", "false");
  }
};

const send = async (form, button) => {
  const address = button && button.hasAttribute("formaction") ? button.formAction : form.action;
  const body = new URLSearchParams(new FormData(form));
  form.setAttribute("aria-busy", "true");
  const answer = await fetch(address, { method: "POST", body }).finally(() => form.removeAttribute("aria-busy"));
  if (form.id === "write") {
    const text = document.getElementById("text");
    text.defaultValue = text.value;
  }
  if (answer.ok) show(await answer.text());
  else lost();
};

let sending = Promise.resolve();
const queue = (form, button) => {
  sending = sending.then(() => send(form, button)).catch(lost);
};

const lost = () => {
  const notice = document.getElementById("notice");
  notice.textContent = "The studio does not answer. It ends when its terminal does: start it again there.";
};

document.addEventListener("submit", (event) => {
  event.preventDefault();
  queue(event.target, event.submitter);
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-auto]");
  if (form) queue(form, null);
});

const watch = async () => {
  for (;;) {
    const version = document.body.dataset.version;
    const answer = await fetch(`/changed?since=${version}`);
    if (!answer.ok) break;
    const now = await answer.text();
    await sending;
    if (now !== document.body.dataset.version) show(await (await fetch("/")).text());
  }
  lost();
};

document.documentElement.classList.add("scripted");
later();
watch().catch(lost);
