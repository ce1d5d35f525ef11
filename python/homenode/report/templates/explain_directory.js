"use strict";
(() => {
  const { nodes, walks } = JSON.parse(document.getElementById("homenode-data").textContent);
{% include "walk_words.js" %}

  const why = ([state, , lost, open]) => (open ? "true or false sharing?" : lost ?? "");

  const showCopy = (place, copy, changed, { badges, names, mark }) => {
    showBadge(place, copy[0], badges.copies[copy[0]], changed);
    showWords(one(".words", place), names, copy[1], mark);
    one(".why", place).textContent = why(copy);
  };

  const showHome = (place, scene, before, { badges, names, mark }) => {
    showBadge(place, scene.state, badges.home[scene.state], before.home !== null
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
      scene.proxies.forEach((copy, node) => {
        const place = one(`.cache[data-cache="${node}"] .proxies [data-block="${block}"]`, panel);
        const changed = step !== null && copy[0] !== before[block].proxies[node][0];
        showCopy(place, copy, changed, shown);
      });
    });
    all(".memory", panel).forEach((memory) => {
      memory.classList.toggle("homes", one(".homed", memory) !== null);
    });
  };

  const start = "All caches are empty. Step on to see the first reference.";

{% include "explain_nodes.js" %}
