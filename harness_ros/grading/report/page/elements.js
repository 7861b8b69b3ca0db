// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// Elements of the page. Texts of a bag reach it as text nodes and attributes, never as HTML.

const byId = (id) => document.getElementById(id);

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

// A text of unknown direction keeps to itself.
const isolated = (text) => element("bdi", {}, text);

const mark = (outcome, symbol, words) =>
  element("span", { class: `mark ${outcome}` },
    element("span", { "aria-hidden": "true" }, symbol), " ", words);

const plural = (number, one, many) => `${grouped(number)} ${number === 1 ? one : many}`;

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
