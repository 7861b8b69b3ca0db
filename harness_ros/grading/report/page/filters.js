// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// Which runs are shown. The state is the address: what stands after its # can be shared.

const MANY = 100;
const DEFAULTS = {
  q: "", outcome: "", tool: "", kind: "", recorded: "", label: "", bag: "", sort: "order",
  view: entries.length > MANY ? "table" : "cards", run: "",
};
const state = { ...DEFAULTS };

const OUTCOMES = ["success", "failure", "unjudged", "process", "cancelled"];
const SYMBOLS = Object.fromEntries(entries.map((entry) => [entry.outcome, entry.symbol]));
const SORTS = {
  order: ["as graded", (entry) => entry.index],
  time: ["time in the bag", (entry) => entry.beganNs],
  duration: ["duration", (entry) => entry.tookNs ?? -1],
  outcome: ["verdict", (entry) => OUTCOMES.indexOf(entry.outcome)],
  tool: ["tool and call", (entry) => entry.call],
  differs: ["differences first", (entry) => (entry.agrees === false ? 0 : entry.mistaken ? 1 : 2)],
};
const RECORDED = {
  differs: ["differs", (entry) => entry.agrees === false],
  same: ["is the same", (entry) => entry.agrees === true],
  none: ["none", (entry) => entry.recorded === null],
};
const LABELS = {
  "false-success": ["false success", (entry) => entry.mistaken === "false success"],
  "false-failure": ["false failure", (entry) => entry.mistaken === "false failure"],
  success: ["success", (entry) => entry.label === "success"],
  failure: ["failure", (entry) => entry.label === "failure"],
  none: ["none", (entry) => entry.label === null],
};

const hashOfRun = (entry) => `#${new URLSearchParams({ run: entry.run })}`;

function readHash() {
  Object.assign(state, DEFAULTS);
  const hash = location.hash.slice(1);
  for (const [key, value] of new URLSearchParams(hash.includes("=") ? hash : "")) {
    if (Object.hasOwn(DEFAULTS, key)) state[key] = value;
  }
  if (!Object.hasOwn(SORTS, state.sort.replace("-", ""))) state.sort = DEFAULTS.sort;
  if (!["cards", "table"].includes(state.view)) state.view = DEFAULTS.view;
}

function writeHash() {
  const kept = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
  const hash = new URLSearchParams(kept).toString();
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // A page in a frame may not change its address; filters work all the same.
  }
}

// What is typed waits for a pause, unless another filter is changed before.
let typing = null;

function change(changes) {
  const typed = typing === null ? {} : { q: byId("q").value.trim() };
  clearTimeout(typing);
  typing = null;
  Object.assign(state, { run: "" }, typed, changes);
  writeHash();
  showState();
}

const haystacks = new Map();

function haystack(entry) {
  if (!haystacks.has(entry.index)) {
    const recorded = entry.recorded || { said: "", reason: "", evidence: [] };
    haystacks.set(entry.index, [
      entry.run, entry.callId, entry.call, entry.bag, entry.said, entry.reason, ...entry.evidence,
      entry.postCondition, entry.judge, recorded.said, recorded.reason, ...recorded.evidence,
    ].join("\n").toLowerCase());
  }
  return haystacks.get(entry.index);
}

// The filters of the state as functions of an entry, by key; those that let everything through are
// left out.
function tests() {
  const found = {};
  const needles = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (needles.length) {
    found.q = (entry) => needles.every((needle) => haystack(entry).includes(needle));
  }
  if (state.outcome) {
    const wanted = new Set(state.outcome.split(","));
    found.outcome = (entry) => wanted.has(entry.outcome);
  }
  for (const key of ["tool", "bag"]) {
    if (state[key]) found[key] = (entry) => entry[key] === state[key];
  }
  if (state.kind) found.kind = (entry) => (entry.kind || "none") === state.kind;
  if (Object.hasOwn(RECORDED, state.recorded)) found.recorded = RECORDED[state.recorded][1];
  if (Object.hasOwn(LABELS, state.label)) found.label = LABELS[state.label][1];
  return found;
}

function matching() {
  const filters = Object.values(tests());
  const found = entries.filter((entry) => filters.every((filter) => filter(entry)));
  const value = SORTS[state.sort.replace("-", "")][1];
  const sign = state.sort.startsWith("-") ? -1 : 1;
  return found.sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    return (a < b ? -sign : a > b ? sign : 0) || one.index - other.index;
  });
}

function startFilters() {
  const distinct = (key) => [...new Set(entries.map((entry) => entry[key]))];
  const present = (choices) => Object.entries(choices)
    .filter(([, [, test]]) => entries.some(test)).map(([key, [title]]) => [key, title]);
  const named = (key) => distinct(key).sort().map((value) => [value, value]);
  const kinds = distinct("kind").sort().map((kind) => [kind || "none", kind.replaceAll("_", " ") || "none"]);
  choices("tool", named("tool"));
  choices("kind", kinds);
  choices("recorded", present(RECORDED));
  choices("label", entries.some((entry) => entry.label) ? present(LABELS) : []);
  choices("bag", named("bag"));
  const sorts = Object.entries(SORTS).flatMap(([key, [title]]) => key === "order" || key === "differs"
    ? [[key, title]] : [[key, title], [`-${key}`, `${title}, reversed`]]);
  choices("sort", sorts, false);
  choices("view", [["cards", "cards"], ["table", "table"]], false);
  startOutcomes();
  byId("q").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => change({}), entries.length > MANY ? 150 : 0);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").hidden = false;
}

// A choice that cannot change anything is not offered.
function choices(key, options, optional = true) {
  const select = byId(key);
  if (optional && options.length < 2) return select.closest("label").remove();
  const every = optional ? [element("option", { value: "" }, "any")] : [];
  select.append(...every, ...options.map(([value, title]) => element("option", { value }, title)));
  select.addEventListener("change", () => change({ [key]: select.value }));
  return undefined;
}

function startOutcomes() {
  const counts = new Map();
  for (const { outcome } of entries) counts.set(outcome, (counts.get(outcome) || 0) + 1);
  for (const outcome of OUTCOMES.filter((name) => counts.has(name))) {
    const box = element("input", { type: "checkbox", value: outcome, onchange: () => {
      const ticked = [...byId("outcomes").querySelectorAll("input:checked")];
      change({ outcome: ticked.map((item) => item.value).join(",") });
    } });
    byId("outcomes").append(element("label", { class: `pill ${outcome}` }, box,
      mark(outcome, SYMBOLS[outcome], outcome),
      element("span", { class: "number" }, grouped(counts.get(outcome)))));
  }
}

function showFilters() {
  if (byId("q").value.trim() !== state.q) byId("q").value = state.q;
  for (const key of ["tool", "kind", "recorded", "label", "bag", "sort", "view"]) {
    const select = byId(key);
    if (select) select.value = state[key];
  }
  const ticked = state.outcome.split(",");
  for (const box of byId("outcomes").querySelectorAll("input")) {
    box.checked = ticked.includes(box.value);
  }
}
