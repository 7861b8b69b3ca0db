// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// What is known of the runs, and what the server is asked. Labels are the server's: one counts here
// once it is on disk.

const overview = JSON.parse(byId("overview").textContent);
const runs = overview.runs;
const asked = new Map();

// Names that the lightbox of the report goes by; it stays with the run that is shown.
const entries = [];
const list = { found: [] };
const picturesOf = (index) => (entries[index] ? entries[index].pictures : []);
const addressOf = (picture) => picture.address;

async function answerOf(path, sent) {
  const options = sent === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent),
  };
  let answer;
  let fields;
  try {
    answer = await fetch(path, options);
    fields = await answer.json();
  } catch {
    throw new Error("harness-ros label does not answer: is it still running? Nothing is lost; start it again.");
  }
  if (!answer.ok) throw new Error(fields.error);
  return fields;
}

// Asked for once; the pictures are loaded with it, so that the next run is there at once.
function detailsOf(index) {
  if (!asked.has(index)) {
    const coming = answerOf(`runs/${index}`).then(async (run) => {
      run.pictures.forEach((picture, number) => {
        picture.address = `runs/${index}/${number}.jpg`;
        picture.caption = "";
      });
      await Promise.all(run.pictures.map(loaded));
      return run;
    });
    coming.catch(() => asked.delete(index));
    asked.set(index, coming);
    if (asked.size > 12) asked.delete(asked.keys().next().value);
  }
  return asked.get(index);
}

async function loaded(picture) {
  picture.image = new Image();
  picture.image.src = picture.address;
  try {
    await picture.image.decode();
  } catch {
    picture.image = null;
  }
}

async function say(index, label, note) {
  const kept = await answerOf(`runs/${index}/label`, { label, note });
  runs[index].label = kept.label;
  const run = await detailsOf(index);
  Object.assign(run, kept);
}

const labelled = () => runs.filter((run) => run.label !== null).length;

// The next run without a label, from a place on and round; -1 where every run has one.
function nextOpen(from) {
  for (let step = 0; step < runs.length; step += 1) {
    const index = (from + step) % runs.length;
    if (runs[index].label === null) return index;
  }
  return -1;
}
