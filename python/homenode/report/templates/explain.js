"use strict";
(() => {
  const walks = JSON.parse(document.getElementById("homenode-data").textContent);
{% include "walk_words.js" %}


  const center = (processor, count) => (100 * (processor + 0.5)) / count;

  // The segment of the bus that the data or the signal take: from the supplier, or to the snooping caches.
  const showFlow = (panel, act, count) => {
    const flow = one(".flow", panel);
    flow.className = "flow";
    if (!act) return;
    const asks = center(act.asks, count);
    const fetches = act.transaction.startsWith("read");
    const ends = act.supplier !== null ? [center(act.supplier, count)]
      : act.memory ? [50] : act.changed.map((processor) => center(processor, count));
    const points = [asks, ...ends];
    const [low, high] = [Math.min(...points), Math.max(...points)];
    flow.style.left = `${low}%`;
    flow.style.width = `${high - low}%`;
    const rightwards = fetches ? asks > ends[0] : ends[0] > asks;
    void flow.offsetWidth; // so that the same animation starts anew
    flow.classList.add("on");
    if (!rightwards) flow.classList.add("left");
  };

  const showBus = (panel, step, count) => {
    const acts = step ? step.acts.filter((act) => act.transaction) : [];
    const bus = one(".bus", panel);
    bus.classList.toggle("busy", acts.length > 0);
    showWho(panel, step);
    const sent = one(".sent", bus);
    sent.replaceChildren();
    acts.forEach((act, index) => {
      if (index) sent.append(", then ");
      sent.append(make("b", "", act.transaction));
      if (act.sharing) sent.append(` (${act.sharing})`);
    });
    sent.append(acts.length ? ` · ${step.cycles} cycles` : step ? "nothing on the bus" : "bus");
    showFlow(panel, acts.at(-1), count);
    const giving = new Set(acts.map((act) => act.supplier).filter((who) => who !== null));
    const hearing = new Set(acts.flatMap((act) => act.changed));
    all(".cache", panel).forEach((cache, processor) => {
      cache.classList.toggle("gives", giving.has(processor));
      cache.classList.toggle("hears", hearing.has(processor) && !giving.has(processor));
      if (!acts.length) cache.classList.remove("gives", "hears");
      one(".stub", cache).classList.toggle("idle", !acts.length);
    });
    one(".memory", panel).classList.toggle("takes", acts.some((act) => act.memory));
  };

  const why = ([state, , lost, open]) => {
    if (open) return "true or false sharing?";
    if (state !== "I") return "";
    return lost ?? "";
  };

  const showScenes = (panel, walk, writersHere) => {
    const step = at ? walk.steps[at - 1] : null;
    const scenes = step ? step.scenes : walk.start;
    const before = at > 1 ? walk.steps[at - 2].scenes : walk.start;
    scenes.forEach((scene, block) => {
      const names = walk.blocks[block];
      const mark = { writers: writersHere, latest: scene.latest, touched: [] };
      scene.copies.forEach((copy, processor) => {
        const place = one(`.cache[data-cache="${processor}"] [data-block="${block}"]`, panel);
        const changed = step !== null && copy[0] !== before[block].copies[processor][0];
        showBadge(place, copy[0], walk.roles[copy[0]], changed);
        const own = step !== null && step.processor === processor && step.block === block;
        showWords(one(".words", place), names, copy[1],
          { ...mark, touched: own ? step.words : [] });
        one(".why", place).textContent = why(copy);
      });
      const memory = one(`.memory [data-block="${block}"]`, panel);
      showWords(one(".words", memory), names, scene.memory, mark);
      const behind = scene.memory.some((value, index) => value !== scene.latest[index]);
      one(".why", memory).textContent = behind ? "out of date" : "up to date";
      one(".why", memory).classList.toggle("behind", behind);
    });
  };

  const showTable = (index, step) => {
    const used = new Set(step ? step.acts.map((act) => act.key) : []);
    const heard = new Set(step ? step.acts.flatMap((act) => act.replies.map(([, key]) => key)) : []);
    const rows = all(`[data-table="${index}"] tr[data-key]`);
    rows.forEach((row) => {
      row.classList.toggle("used", used.has(row.dataset.key));
      row.classList.toggle("heard", heard.has(row.dataset.key));
    });
    const marked = rows.filter((row) => used.has(row.dataset.key));
    const picked = one(`[data-panel="${index}"] .picked tbody`);
    if (picked) picked.replaceChildren(...marked.map((row) => {
      const copy = row.cloneNode(true);
      copy.removeAttribute("data-key");
      copy.className = "";
      return copy;
    }));
    const live = one(`.live[data-table="${index}"]`);
    if (live && marked.length) {
      const key = step.acts.at(-1).key;
      const row = marked.find((candidate) => candidate.dataset.key === key) ?? marked[0];
      const top = row.offsetTop - live.clientHeight / 2;
      if (row.offsetTop < live.scrollTop + 40
        || row.offsetTop + 40 > live.scrollTop + live.clientHeight) live.scrollTop = top;
    }
  };

  const tagsOf = (step) => [
    outcomeTag(step.miss, step.outcome),
    ...step.acts.filter((act) => act.transaction).map((act) => tag("is-bus",
      act.transaction + (act.sharing ? `: ${act.sharing} sharing` : ""))),
  ];

  const showTotals = (index, walk) => {
    const counts = {};
    const add = (name, by = 1) => { counts[name] = (counts[name] ?? 0) + by; };
    walk.steps.slice(0, at).forEach((step) => {
      add(classSoFar(step));
      step.acts.filter((act) => act.transaction).forEach((act) => {
        add(act.transaction.startsWith("read") ? "fetch" : act.transaction);
      });
      add("cycles", step.cycles);
    });
    showCounts(index, counts);
  };

  const show = (step, quietly) => {
    at = Math.max(0, Math.min(last, step));
    walks.forEach((walk, index) => {
      const panel = one(`[data-panel="${index}"]`);
      const now = at ? walk.steps[at - 1] : null;
      showScenes(panel, walk, writers[index]);
      showTags(panel, walk, now, tagsOf);
      showBus(panel, now, walk.start[0]?.copies.length ?? 1);
      one(".sentence", panel).textContent = now ? now.says
        : "All caches are empty. Step on to see the first reference.";
      showTable(index, now);
      showTotals(index, walk);
    });
{% include "player.js" %}
