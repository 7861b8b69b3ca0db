// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// One run on the page.

const MARKS = {
  success: ["success", "✓", "success"], failure: ["failure", "✗", "failure"],
  unknown: ["unjudged", "?", "cannot tell"],
};
const page = { at: -1, run: null, ready: false, verdict: false };

async function open(index) {
  Object.assign(page, { at: index, run: null, ready: false, verdict: false });
  document.body.classList.add("waits");
  document.body.classList.remove("done");
  byId("done").hidden = true;
  byId("noting").hidden = true;
  trouble("");
  progress();
  try {
    const run = await detailsOf(index);
    if (page.at !== index) return;
    page.run = run;
    render(index, run);
    page.ready = true;
    document.body.classList.remove("waits");
    const after = nextOpen(index + 1);
    if (after >= 0 && after !== index) detailsOf(after).catch(() => {});
  } catch (error) {
    if (page.at !== index) return;
    byId("question").hidden = true;
    byId("pictures").replaceChildren();
    byId("measured").replaceChildren();
    trouble(`${runs[index].call}: ${error.message}`);
  }
}

function render(index, run) {
  byId("question").hidden = false;
  byId("asked").textContent = `Is this true after the run?${run.segment > 1 ? ` Segment ${run.segment} of its call.` : ""}`;
  byId("condition").replaceChildren(isolated(run.postCondition));
  byId("call").replaceChildren(
    element("b", {}, isolated(run.tool)),
    ...run.arguments.flatMap(([name, value]) =>
      ["  ", isolated(`${name}=`), element("b", {}, isolated(value))]),
    ` · run ${runs[index].short}`);
  entries[index] = {
    index, pictures: run.pictures.filter((picture) => picture.image), outcome: "", symbol: "",
    call: runs[index].call, short: runs[index].short, postCondition: run.postCondition,
  };
  list.found = [entries[index]];
  showPictures(index, run);
  byId("measured").replaceChildren(...run.measured.map((text) => element("li", {}, isolated(text))));
  byId("note").value = run.note;
  showLabel();
  scrollTo({ top: 0, behavior: "instant" });
}

function showPictures(index, run) {
  let position = -1;
  byId("pictures").replaceChildren(...run.pictures.map((picture) => {
    const name = element("span", { class: "name" }, isolated(picture.name));
    if (!picture.image) {
      return element("p", { class: "thumb broken" }, "This picture cannot be shown.", name);
    }
    position += 1;
    const at = position;
    const image = picture.image;
    image.alt = `${picture.name} after ${runs[index].call}`;
    return element("button", {
      type: "button", class: "thumb", "aria-haspopup": "dialog",
      onclick: () => openLightbox(index, at),
    }, image, name);
  }));
}

// As many columns as make the pictures largest, so that no answer needs scrolling.
function fit() {
  const box = byId("pictures");
  const shown = page.at < 0 ? [] : picturesOf(page.at);
  if (!shown.length || byId("question").hidden) return;
  const gap = 12;
  const across = box.clientWidth;
  const others = [...document.querySelectorAll(".ahead, .answers, #question, #verdict, #measured")];
  // What is left over is the space between them.
  const rest = others.reduce((sum, other) => sum + other.offsetHeight, 92);
  const down = Math.max(innerHeight - rest, 220);
  const aspect = Math.min(...shown.map((picture) => picture.width / picture.height));
  let best = { width: 0, columns: 1 };
  for (let columns = 1; columns <= shown.length; columns += 1) {
    const rows = Math.ceil(shown.length / columns);
    const width = Math.floor(Math.min(
      (across - gap * (columns - 1)) / columns, ((down - gap * (rows - 1)) / rows) * aspect));
    if (width > best.width) best = { width, columns };
  }
  // On a phone the page is scrolled anyway: the whole width is worth more.
  if (matchMedia("(max-width: 760px)").matches) best = { width: across, columns: 1 };
  box.style.setProperty("--columns", best.columns);
  box.style.setProperty("--width", `${best.width}px`);
}

function showLabel() {
  const label = runs[page.at].label;
  for (const button of document.querySelectorAll("[data-say]")) {
    button.setAttribute("aria-pressed", String(button.dataset.say === label));
  }
  const noted = page.run && page.run.note;
  document.querySelector('[data-do="note"]').classList.toggle("kept", Boolean(noted));
  byId("noting").hidden = !noted;
  const verdict = byId("verdict");
  if (!page.verdict || label === null) verdict.hidden = true;
  const button = document.querySelector('[data-do="verdict"]');
  if (button) button.disabled = label === null;
  progress();
  fit();
}

function progress() {
  const number = labelled();
  const left = runs.length - number;
  const place = page.at < 0 ? runs.length : page.at + 1;
  byId("count").textContent = `${grouped(place)} of ${grouped(runs.length)}`;
  byId("left").textContent = left ? `${grouped(left)} left` : "All labelled";
  byId("progress").value = number;
  if (byId("all").open) showAll();
}

function showAll() {
  byId("all-runs").replaceChildren(...runs.map((run, index) => {
    const [outcome, symbol, words] = MARKS[run.label] || ["", "·", "without a label"];
    return element("li", {}, element("button", {
      type: "button", "data-index": index, "aria-current": index === page.at,
    }, element("span", { class: `mark ${outcome}`, title: words }, symbol),
    element("span", { class: "call" }, isolated(run.call)), element("span", { class: "id" }, run.short)));
  }));
  const current = byId("all-runs").querySelector("[aria-current]");
  if (current) current.scrollIntoView({ block: "nearest", behavior: "instant" });
}

async function showDone() {
  Object.assign(page, { at: -1, run: null, ready: false });
  document.body.classList.remove("waits");
  document.body.classList.add("done");
  for (const id of ["question", "verdict", "noting"]) byId(id).hidden = true;
  for (const id of ["pictures", "measured"]) byId(id).replaceChildren();
  byId("done").hidden = false;
  byId("done-title").textContent = `All ${plural(runs.length, "run is", "runs are")} labelled`;
  byId("done-counts").replaceChildren(...Object.entries(MARKS).map(([label, [outcome, symbol, words]]) =>
    element("li", {}, element("p", { class: "figure" },
      grouped(runs.filter((run) => run.label === label).length)), mark(outcome, symbol, words))));
  progress();
  try {
    const { lines } = await answerOf("summary");
    byId("done-lines").replaceChildren(
      ...[...lines, "Ctrl-C in the terminal ends harness-ros label."]
        .map((line) => element("li", {}, isolated(line))));
  } catch (error) {
    trouble(error.message);
  }
}

function trouble(words) {
  byId("trouble").textContent = words;
  byId("trouble").hidden = !words;
}

function showVerdict(verdict) {
  const box = byId("verdict");
  box.hidden = false;
  box.replaceChildren(
    element("p", {}, element("span", { class: "faint" }, "The judge: "),
      mark(verdict.outcome, verdict.symbol, verdict.said)),
    ...verdict.lines.map((line) => element("p", {}, isolated(line))));
  fit();
}
