// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// Pictures of runs. Each run's are JSON in a script element of their own, further down in the file
// than this script: the page works while they still arrive.

const entries = JSON.parse(byId("entries").textContent);

const near = new IntersectionObserver((seen) => {
  for (const item of seen) if (item.isIntersecting) fill(item.target);
}, { rootMargin: "700px 0px" });

// null: not there yet; []: there are none.
function picturesOf(index) {
  const holder = byId(`pictures-${index}`);
  if (holder) return JSON.parse(holder.textContent);
  return document.readyState === "loading" ? null : [];
}

const addressOf = (picture) => `data:image/jpeg;base64,${picture.jpeg}`;

function pictureStrip(entry) {
  const strip = element("div", { class: "strip waiting", "data-index": entry.index });
  near.observe(strip);
  return strip;
}

function fill(strip, eager = false) {
  if (!strip.classList.contains("waiting")) return;
  const entry = entries[Number(strip.dataset.index)];
  const pictures = picturesOf(entry.index);
  if (pictures === null) return;
  near.unobserve(strip);
  strip.classList.remove("waiting");
  strip.classList.toggle("none", pictures.length === 0);
  strip.classList.toggle("single", pictures.length === 1);
  strip.classList.toggle("pair", pictures.length === 2);
  strip.append(...pictures.map((picture, position) => {
    const image = element("img", {
      alt: "", loading: eager ? "eager" : "lazy", decoding: "async",
      width: picture.width, height: picture.height, src: addressOf(picture),
    });
    const label = `${picture.name}, ${entry.call}: open large`;
    return element("button", {
      type: "button", class: "thumb", "aria-label": label, "aria-haspopup": "dialog",
      onclick: () => openLightbox(entry.index, position),
    }, image, element("span", { class: "name" }, isolated(picture.name)));
  }));
}

// What came into sight before its pictures had arrived.
function fillWaiting(everything = false) {
  for (const strip of document.querySelectorAll(".strip.waiting")) {
    const box = strip.getBoundingClientRect();
    if (everything) fill(strip, true);
    else if (box.bottom > -700 && box.top < innerHeight + 700) fill(strip);
  }
}
