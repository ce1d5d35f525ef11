"use strict";
(() => {
  const { nodes, walks } = JSON.parse(document.getElementById("homenode-data").textContent);
{% include "walk_words.js" %}


  const why = ([state, , lost, open]) => (open ? "true or false sharing?" : lost ?? "");

  const showCopy = (place, copy, changed, { badges, names, mark }) => {
    const badge = one(".badge", place);
    badge.textContent = copy[0];
    badge.className = `badge ${badges.copies[copy[0]]}`;
    badge.classList.toggle("changed", changed);
    showWords(one(".words", place), names, copy[1], mark);
    one(".why", place).textContent = why(copy);
  };

  const showHome = (place, scene, before, { badges, names, mark }) => {
    const badge = one(".badge", place);
    badge.textContent = scene.state;
    badge.className = `badge ${badges.home[scene.state]}`;
    badge.classList.toggle("changed", before.home !== null
      && (before.state !== scene.state || before.entry !== scene.entry));
    showWords(one(".words", place), names, scene.memory, mark);
    const behind = scene.memory.some((value, index) => value !== scene.latest[index]);
    const said = [scene.entry, behind ? "memory out of date" : ""];
    one(".why", place).textContent = said.filter(Boolean).join("; ");
    one(".why", place).classList.toggle("behind", behind);
  };

  const showScenes = (panel, walk, writersHere) => {
    const step = at ? walk.steps[at - 1] : null;
    const scenes = step ? step.scenes : walk.start;
    const before = at > 1 ? walk.steps[at - 2].scenes : walk.start;
    scenes.forEach((scene, block) => {
      const names = walk.blocks[block];
      const mark = { writers: writersHere, latest: scene.latest, touched: [] };
      const shown = { badges: walk.badges, names, mark };
      scene.copies.forEach((copy, node) => {
        const place = one(`.cache[data-cache="${node}"]`, panel);
        const own = step !== null && step.processor === node && step.block === block;
        const changed = step !== null && copy[0] !== before[block].copies[node][0];
        showCopy(one(`.copies [data-block="${block}"]`, place), copy, changed,
          { ...shown, mark: { ...mark, touched: own ? step.words : [] } });
        const memory = one(`.memory [data-block="${block}"]`, place);
        const homed = scene.home === nodes[node];
        memory.classList.toggle("homed", homed);
        if (homed) showHome(memory, scene, before[block], shown);
      });
    });
    all(".cache", panel).forEach((cache, node) => {
      cache.classList.toggle("acts", step !== null && step.processor === node);
      one(".does", cache).textContent = step && step.processor === node
        ? step.text.replace(/^N\d+ /, "") : "";
      one(".memory", cache).classList.toggle("homes", one(".homed", cache) !== null);
    });
  };

{% include "ladder.js" %}

  // What can be said of the step when it has just happened; the rest shows later.
  const showTags = (panel, walk, step) => {
    const tags = [];
    const tag = (cls, text) => tags.push(make("span", `tag ${cls}`, text));
    if (step) {
      const later = step.miss && step.miss.known !== at - 1;
      tag(step.miss ? (later ? "is-later" : "is-miss") : "", later ? open : step.outcome);
      const many = step.crossed === 1 ? "" : "s";
      tag(step.crossed ? "is-bus" : "", `${step.crossed || "no"} message${many} between nodes`);
      if (step.private) tag("", "private area");
      walk.steps.forEach((earlier, number) => {
        const { miss } = earlier;
        if (miss && number < at - 1 && (miss.known === at - 1 || (miss.known === null && at === last))) {
          tag("is-miss", `step ${number + 1}: ${earlier.outcome}`);
        }
      });
    }
    one(".tags", panel).replaceChildren(...tags);
  };

  const showTotals = (index, walk) => {
    const step = at ? walk.steps[at - 1] : null;
    const counts = { ...(step ? step.messages : {}), bytes: step ? step.bytes : 0 };
    counts.messages = step ? Object.values(step.messages).reduce((sum, count) => sum + count, 0) : 0;
    walk.steps.slice(0, at).forEach(({ miss }) => {
      const known = miss && (miss.known ?? last) < at;
      const name = !miss ? "hit" : known || at === last ? miss.class : "open";
      counts[name] = (counts[name] ?? 0) + 1;
    });
    all(`[data-total="${index}"] [data-count]`).forEach((cell) => {
      const count = counts[cell.dataset.count] ?? 0;
      cell.textContent = count.toLocaleString("en-US");
      cell.classList.toggle("nought", count === 0);
    });
  };

  const showStep = (walk, index) => {
    const panel = one(`[data-panel="${index}"]`);
    const now = at ? walk.steps[at - 1] : null;
    showScenes(panel, walk, writers[index]);
    one(".ladder", panel).replaceChildren(...(now ? now.acts.map(rung) : []));
    showTags(panel, walk, now);
    one(".sentence", panel).textContent = now ? now.says
      : "All caches are empty. Step on to see the first reference.";
    showTable(index, now);
    showTotals(index, walk);
  };

  const show = (step, quietly) => {
    at = Math.max(0, Math.min(last, step));
    walks.forEach(showStep);
{% include "player.js" %}
