"use strict";
(() => {
  const { nodes, walks } = JSON.parse(document.getElementById("homenode-data").textContent);
{% include "walk_words.js" %}

  // The words of a line, or a dash without one.
  const showLine = (place, names, values, mark, dirty) => {
    const words = one(".words", place);
    showWords(words, names, values, mark);
    names.forEach((name, index) => {
      if (values.length && dirty.includes(name)) words.children[index].classList.add("dirty");
    });
    if (!values.length) words.replaceChildren(make("span", "none", "no line"));
  };

  const showPages = (walk, cache, node, [scene, before], own) => {
    scene.pages.forEach((page, number) => {
      const was = before.pages[number];
      const table = one(`.tables [data-page="${number}"]`, cache);
      const state = page.mappings[node];
      showBadge(table, state, walk.badges.mapping[state], own && was.mappings[node] !== state);
      const owed = page.releases[node];
      one(".why", table).textContent = owed === walk.released ? "" : `release: ${owed}`;
      const home = one(`.homes-of [data-page="${number}"]`, cache);
      const homed = page.home === nodes[node];
      home.classList.toggle("homed", homed);
      if (!homed) return;
      const changed = was.home !== null && (was.state !== page.state || was.entry !== page.entry);
      const colour = `${walk.badges.home[page.state]}${page.state === "weak" ? " weak" : ""}`;
      showBadge(home, page.state, colour, own && changed);
      one(".why", home).textContent = page.entry;
    });
    one(".homes-of", cache).classList.toggle("homes", one(".homed", cache) !== null);
  };

  const showScenes = (panel, walk, writersHere) => {
    const step = at ? walk.steps[at - 1] : null;
    const scene = step ? step.scene : walk.start;
    const before = at > 1 ? walk.steps[at - 2].scene : walk.start;
    all(".cache", panel).forEach((cache, node) => {
      showPages(walk, cache, node, [scene, before], step !== null);
      scene.lines.forEach((line, number) => {
        const names = walk.blocks[number];
        const own = step !== null && step.processor === node && step.block === number;
        const mark = { writers: writersHere, latest: line.latest, touched: own ? step.words : [] };
        const place = one(`.lines [data-block="${number}"]`, cache);
        showLine(place, names, line.copies[node], mark, line.dirty[node]);
        const memory = one(`.homes-of [data-block="${number}"]`, cache);
        showLine(memory, names, line.memory, { ...mark, touched: [] }, []);
      });
    });
  };

  const start = "No page is mapped, and all caches are empty. Step on to see the first access.";

{% include "explain_nodes.js" %}
