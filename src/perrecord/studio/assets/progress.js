// Shows how much of the data has been counted, for as long as a panel waits for it.
"use strict";

const told = async () => {
  const isWaiting = document.querySelector('[data-progress][aria-busy="true"]') !== null;
  const answer = isWaiting ? await fetch("/progress") : null;
  const done = answer && answer.ok ? await answer.text() : "";
  const place = document.getElementById("counting");
  if (place) {
    place.hidden = done === "";
    if (done !== "") place.querySelector("progress").value = Number(done);
  }
};

const tellOn = () => told().catch(() => {}).then(() => setTimeout(tellOn, 400));
tellOn();
