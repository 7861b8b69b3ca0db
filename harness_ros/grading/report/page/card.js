// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// One run in full.

function card(entry, heading = "h3") {
  return element("article", {
    class: `card ${entry.outcome}`, tabindex: "-1", "data-index": entry.index,
    "aria-label": `${entry.call}, ${entry.outcome}`,
  }, cardHead(entry, heading), element("div", { class: "body" },
    pictureStrip(entry), element("div", { class: "words" }, words(entry))));
}

function cardHead(entry, heading) {
  return element("header", {},
    mark(entry.outcome, entry.symbol, entry.outcome),
    entry.kind ? element("span", { class: "kind" }, entry.kind.replaceAll("_", " ")) : null,
    element(heading, { class: "call" }, isolated(entry.call)),
    entry.agrees === false ? flag("differs from the recorded verdict") : null,
    entry.mistaken ? flag(entry.mistaken) : null,
    element("span", { class: "when" }, `at ${entry.began}`,
      entry.took === null ? ", no end in the bag" : `, took ${entry.took}`),
    element("a", { class: "id", href: hashOfRun(entry), title: `Link to run ${entry.run}` },
      isolated(entry.short)));
}

const flag = (text) =>
  element("span", { class: "flag" }, element("span", { "aria-hidden": "true" }, "≠ "), text);

function words(entry) {
  const differs = entry.agrees === false;
  const now = said(entry, differs ? "Now" : "");
  return [
    entry.postCondition
      ? element("p", { class: "condition" }, isolated(entry.postCondition)) : null,
    differs
      ? element("div", { class: "both" }, now, said(entry.recorded, "Recorded"))
      : now,
    notes(entry),
    clips(entry),
    more(entry),
  ];
}

function said(verdict, title) {
  return element("div", { class: "said" },
    title ? element("h4", {}, title, " ", mark(verdict.outcome, verdict.symbol, verdict.said)) : null,
    verdict.reason
      ? element("p", { class: `reason ${verdict.outcome}` }, isolated(verdict.reason)) : null,
    verdict.evidence.length
      ? element("ul", { class: "evidence" },
        verdict.evidence.map((line) => element("li", {}, isolated(line)))) : null,
    title && verdict.judge
      ? element("p", { class: "faint" }, "judge ", isolated(verdict.judge)) : null);
}

function notes(entry) {
  const told = [];
  if (entry.seenAfter) told.push(`seen ${entry.seenAfter} after the end`);
  if (entry.confidence) told.push(`confidence ${entry.confidence}`);
  if (entry.agrees === true) told.push("the recorded verdict is the same");
  if (entry.recorded === null) told.push("no verdict recorded");
  if (entry.recorded && entry.recorded.otherCriteria) told.push("recorded with other criteria");
  if (entry.label) told.push(`labelled ${entry.label}`);
  return told.length ? element("p", { class: "notes faint" }, told.join(" · ")) : null;
}

function clips(entry) {
  if (!entry.clips.length) return null;
  const links = entry.clips.map(([camera, file]) =>
    element("li", {}, element("a", { href: file }, "▸ clip of ", isolated(camera))));
  return element("ul", { class: "clips" }, links);
}

function more(entry) {
  const facts = [
    ["run", entry.run], ["call", entry.callId], ["segment", String(entry.segment)],
    ["bag", entry.bag], ["began", entry.startStamp], ["ended", entry.endStamp],
    ["evidence of", entry.seenStamp], ["judge", entry.judge], ["error card", entry.errorCard],
    ["answer took", entry.usage],
    ["criteria", entry.criteria],
    ["recorded criteria", entry.recorded && entry.recorded.otherCriteria
      ? entry.recorded.criteria : null],
    ["observed", entry.observed],
  ].filter(([, value]) => value);
  return element("details", {}, element("summary", {}, "Ids, stamps, judge"),
    element("dl", {}, facts.map(([name, value]) =>
      [element("dt", {}, name), element("dd", {}, isolated(value))])));
}
