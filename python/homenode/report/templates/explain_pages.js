"use strict";
(() => {
  const { nodes, walks } = JSON.parse(document.getElementById("homenode-data").textContent);
{% include "walk_words.js" %}


  const badgeOf = (place, state, colour, changed) => {
    const badge = one(".badge", place);
    badge.textContent = state;
    badge.className = `badge ${colour}`;
    badge.classList.toggle("changed", changed);
  };

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
      badgeOf(table, state, walk.badges.mapping[state], own && was.mappings[node] !== state);
      const owed = page.releases[node];
      one(".why", table).textContent = owed === walk.released ? "" : `release: ${owed}`;
      const home = one(`.homes-of [data-page="${number}"]`, cache);
      const homed = page.home === nodes[node];
      home.classList.toggle("homed", homed);
      if (!homed) return;
      const changed = was.home !== null && (was.state !== page.state || was.entry !== page.entry);
      const colour = `${walk.badges.home[page.state]}${page.state === "weak" ? " weak" : ""}`;
      badgeOf(home, page.state, colour, own && changed);
      one(".why", home).textContent = page.entry;
    });
    one(".homes-of", cache).classList.toggle("homes", one(".homed", cache) !== null);
  };

  const showScene = (panel, walk, writersHere) => {
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
      cache.classList.toggle("acts", step !== null && step.processor === node);
      one(".does", cache).textContent = step && step.processor === node
        ? step.text.replace(/^N\d+ /, "") : "";
    });
  };

{% include "ladder.js" %}

  // What can be said of the step when it has just happened; the rest shows later.
  const showTags = (panel, walk, step) => {
    const tags = [];
    const tag = (cls, text) => tags.push(make("span", `tag ${cls}`, text));
    if (step) {
      const later = step.miss && step.miss.known !== at - 1;
      if (step.fault) tag("is-miss", "page fault");
      const said = step.outcome.replace("page fault, ", "");
      tag(step.miss ? (later ? "is-later" : "is-miss") : "", later ? open : said);
      const many = step.crossed === 1 ? "" : "s";
      tag(step.crossed ? "is-bus" : "", `${step.crossed || "no"} message${many} between nodes`);
      if (step.cycles) tag("", `${step.cycles.toLocaleString("en-US")} cycles`);
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
    walk.steps.slice(0, at).filter((done) => done.access).forEach(({ miss, fault }) => {
      const known = miss && (miss.known ?? last) < at;
      const name = !miss ? "hit" : known || at === last ? miss.class : "open";
      counts[name] = (counts[name] ?? 0) + 1;
      counts.fault = (counts.fault ?? 0) + (fault ? 1 : 0);
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
    showScene(panel, walk, writers[index]);
    one(".ladder", panel).replaceChildren(...(now ? now.acts.map(rung) : []));
    showTags(panel, walk, now);
    one(".sentence", panel).textContent = now ? now.says
      : "No page is mapped, and all caches are empty. Step on to see the first access.";
    showTable(index, now);
    showTotals(index, walk);
  };

  const show = (step, quietly) => {
    at = Math.max(0, Math.min(last, step));
    walks.forEach(showStep);
{% include "player.js" %}
