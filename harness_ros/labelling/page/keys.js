// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// Keys and buttons.

const said = [];
let busy = false;

// One thing at a time: what is pressed while the last one is written is not meant for the next run.
async function alone(act) {
  if (busy) return;
  busy = true;
  try {
    trouble("");
    await act();
  } catch (error) {
    trouble(error.message);
  } finally {
    busy = false;
  }
}

const answer = (label) => alone(async () => {
  // Nobody can have looked at pictures that are not there yet.
  if (!page.ready) return;
  const index = page.at;
  await say(index, label, byId("note").value);
  said.push(index);
  const [outcome, symbol, words] = MARKS[label];
  byId("last").replaceChildren(
    mark(outcome, symbol, words), " ", isolated(runs[index].call));
  if (byId("lightbox").open) byId("lightbox").close();
  const after = nextOpen(index + 1);
  if (after < 0) await showDone();
  else await open(after);
});

const undo = () => alone(async () => {
  const index = said.pop();
  if (index === undefined) {
    const before = page.at < 0 ? runs.length - 1 : page.at - 1;
    if (before >= 0) await open(before);
    return;
  }
  const run = await detailsOf(index);
  await say(index, null, run.note);
  byId("last").replaceChildren("taken back");
  await open(index);
});

// What was typed and not kept is kept before another run is shown.
async function leave() {
  if (page.ready && byId("note").value.trim() !== page.run.note) {
    await say(page.at, runs[page.at].label, byId("note").value);
  }
}

const go = (index) => alone(async () => {
  await leave();
  await open(index);
});

function move(step) {
  const from = page.at < 0 ? runs.length : page.at;
  const index = Math.min(Math.max(from + step, 0), runs.length - 1);
  return index === page.at ? undefined : go(index);
}

const seeVerdict = () => alone(async () => {
  if (!overview.showVerdict || !page.ready || runs[page.at].label === null) return;
  page.verdict = !page.verdict;
  if (page.verdict) showVerdict(await answerOf(`runs/${page.at}/verdict`, {}));
  else showLabel();
});

const keepNote = () => alone(async () => {
  if (!page.ready) return;
  await say(page.at, runs[page.at].label, byId("note").value);
  byId("note").blur();
  showLabel();
});

function zoom() {
  if (byId("lightbox").open) byId("lightbox").close();
  else if (page.ready && picturesOf(page.at).length) openLightbox(page.at, 0);
}

function takeNote() {
  if (!page.ready) return;
  byId("noting").hidden = false;
  byId("note").focus();
}

function toggleAll() {
  byId("all").open = !byId("all").open;
}

const DOES = {
  previous: () => move(-1), next: () => move(1), undo, zoom, note: takeNote, verdict: seeVerdict,
};

const PRESSED = {
  s: () => answer("success"), f: () => answer("failure"), u: () => answer("unknown"),
  ArrowLeft: DOES.previous, ArrowRight: DOES.next, Backspace: undo,
  z: zoom, n: takeNote, v: seeVerdict, l: toggleAll,
};
const IN_LIGHTBOX = new Set(["s", "f", "u", "z"]);

addEventListener("keydown", (event) => {
  // A key that is held down is one answer.
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === byId("note")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (byId("lightbox").open && !IN_LIGHTBOX.has(key)) return;
  if (key === "Escape") byId("all").open = false;
  const act = PRESSED[key];
  if (!act) return;
  event.preventDefault();
  act();
});

byId("note").addEventListener("keydown", (event) => {
  if (event.key === "Enter") keepNote();
  if (event.key !== "Escape") return;
  byId("note").value = page.run ? page.run.note : "";
  byId("note").blur();
  showLabel();
});
document.querySelector(".answers").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  // Else the space bar would press it again on the next run.
  button.blur();
  if (button.dataset.say) answer(button.dataset.say);
  else DOES[button.dataset.do]();
});

byId("all").addEventListener("toggle", () => byId("all").open && showAll());
byId("all-runs").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  byId("all").open = false;
  go(Number(button.dataset.index));
});
addEventListener("resize", fit);

startLightbox();
const begin = nextOpen(0);
if (begin < 0) showDone();
else open(begin);
