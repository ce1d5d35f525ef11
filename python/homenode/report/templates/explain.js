"use strict";
(() => {
  const { counts, walks } = JSON.parse(document.getElementById("homenode-data").textContent);
  const last = walks[0].steps.length;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const make = (name, cls, text) => {
    const node = document.createElement(name);
    if (cls) node.className = cls;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  let at = 0;
  let timer = null;

  // The sentences about a step are already on the page.
  walks.forEach((walk, index) => {
    const rows = all(`[data-steps="${index}"] tbody tr`);
    walk.steps.forEach((step, number) => {
      step.text = rows[2 * number].cells[1].textContent;
      step.says = rows[2 * number + 1].cells[1].textContent;
    });
    // The box that made each write, from 1 on.
    walk.writers = [null, ...walk.steps.filter((step) => step.writes).map((step) => step.box)];
  });

  const showWords = (place, walk, [block, , box], [, values, , , dirty], latest, step) => {
    const names = walk.words[block];
    const own = step && step.box === box && step.block === block;
    const words = one(".words", place);
    words.replaceChildren(...values.map((value, index) => {
      const word = make("span", "word");
      if (value) word.classList.add(`of-${walk.writers[value]}`);
      word.classList.toggle("old", latest[block][index] !== value);
      word.classList.toggle("touched", Boolean(own) && step.touched.includes(names[index]));
      word.classList.toggle("dirty", dirty.includes(names[index]));
      word.append(make("i", "", names[index]), String(value));
      return word;
    }));
    if (!values.length && place.matches(".line")) words.append(make("span", "none", "no line"));
  };

  // What a place shows: a state, words and a note; nothing at a node that is not the home.
  const showPlace = (place, walk, known, shown, latest, step) => {
    place.classList.toggle("homed", shown !== null && known[1] === "home");
    if (shown === null) return;
    const [state, values, why, changed] = shown;
    if (state !== null) {
      const badge = one(".badge", place);
      badge.textContent = state;
      badge.className = `badge ${walk.tones[known[1]][state]}`;
      badge.classList.toggle("changed", Boolean(changed));
    }
    if (values) showWords(place, walk, known, shown, latest, step);
    const note = one(".why", place);
    if (!note) return;
    note.textContent = why;
    if (known[3]) {
      const behind = values.some((value, index) => value !== latest[known[0]][index]);
      note.classList.toggle("behind", behind);
    }
  };

  const showScene = (panel, walk, step) => {
    const { scene, latest } = step ?? walk.start;
    all(".slot, .line", panel).forEach((place, number) => {
      showPlace(place, walk, walk.places[number], scene[number], latest, step);
    });
    all(".memory, .homes-of", panel).forEach((homes) => {
      homes.classList.toggle("homes", one(".homed", homes) !== null);
    });
    all(".cache", panel).forEach((box, place) => {
      const acts = step !== null && step.box === place;
      box.classList.toggle("acts", acts);
      one(".does", box).textContent = acts ? step.text.replace(/^[NP]\d+ /, "") : "";
    });
  };

  // The bus: what is sent, the part that it takes, and the caches that give or hear something.
  const showBus = (panel, step) => {
    const bus = one(".bus", panel);
    if (!bus) return;
    const moved = step ? step.bus : { sent: [], cycles: "bus", gives: [], hears: [] };
    const busy = moved.sent.length > 0;
    bus.classList.toggle("busy", busy);
    const sent = one(".sent", bus);
    sent.replaceChildren();
    moved.sent.forEach(([transaction, sharing], index) => {
      if (index) sent.append(", then ");
      sent.append(make("b", "", transaction), sharing ? ` (${sharing})` : "");
    });
    sent.append(moved.cycles);
    const flow = one(".flow", bus);
    flow.className = "flow";
    if (moved.flow) {
      const [left, width, leftwards] = moved.flow;
      flow.style.left = `${left}%`;
      flow.style.width = `${width}%`;
      void flow.offsetWidth; // so that the same animation starts anew
      flow.classList.add("on");
      flow.classList.toggle("left", leftwards);
    }
    all(".cache", panel).forEach((box, place) => {
      box.classList.toggle("gives", moved.gives.includes(place));
      box.classList.toggle("hears", moved.hears.includes(place));
      one(".stub", box).classList.toggle("idle", !busy);
    });
    one(".memory", panel).classList.toggle("takes", Boolean(moved.takes));
  };

  // A message goes from the line under its sender to that under its receiver.
  const rung = (act, boxes) => {
    const percent = (columns) => `${(100 * columns) / boxes}%`;
    const row = make("li", act.from_processor ? "processor" : "");
    const text = make("span", "", act.what);
    const head = make("div", act.hop ? `hop ${act.hop.way}` : "stays");
    if (act.hop) {
      const [from, to] = act.hop.ends;
      head.style.setProperty("--from", percent(Math.min(from, to) + 0.5));
      head.style.setProperty("--span", percent(Math.abs(from - to)));
      head.classList.add(from < to ? "right" : "left");
      if (act.hop.number) text.prepend(make("small", "", String(act.hop.number)));
    } else {
      head.style.setProperty("--at", percent(act.at));
    }
    head.append(text);
    const done = make("div", "comes-to");
    done.style.setProperty("--at", percent(act.at));
    const what = make("span");
    what.append(`${act.side} `, make("b", "", act.change));
    done.append(what);
    row.append(head, done);
    row.title = act.title;
    return row;
  };

  const showMessages = (panel, step) => {
    const boxes = all(".cache", panel).length;
    one(".ladder", panel)?.replaceChildren(...(step?.acts ?? []).map((act) => rung(act, boxes)));
  };

  // Marks the cells that a step uses, and brings the last one into view.
  const showTable = (index, step) => {
    const [used, heard] = [new Set(step?.used), new Set(step?.heard)];
    const keys = (cell) => (cell.dataset.keys ?? cell.dataset.key).split(";");
    const cells = all(`[data-table="${index}"] :is([data-key], [data-keys])`);
    cells.forEach((cell) => {
      cell.classList.toggle("used", keys(cell).some((key) => used.has(key)));
      cell.classList.toggle("heard", keys(cell).some((key) => heard.has(key)));
    });
    const marked = cells.filter((cell) => cell.matches("tr.used"));
    const picked = one(`[data-panel="${index}"] .picked tbody`);
    if (picked) picked.replaceChildren(...marked.map((row) => {
      const copy = row.cloneNode(true);
      copy.removeAttribute("data-key");
      copy.className = "";
      return copy;
    }));
    const live = one(`.live[data-table="${index}"]`);
    if (live && marked.length) {
      const row = marked.find((found) => found.dataset.key === step.used.at(-1)) ?? marked[0];
      const top = row.offsetTop - live.clientHeight / 2;
      if (row.offsetTop < live.scrollTop + 40
        || row.offsetTop + 40 > live.scrollTop + live.clientHeight) live.scrollTop = top;
    }
  };

  const showCounts = (index, step) => all(`[data-total="${index}"] [data-count]`).forEach((cell) => {
    const count = step ? step.counts[counts.indexOf(cell.dataset.count)] : 0;
    cell.textContent = count.toLocaleString("en-US");
    cell.classList.toggle("nought", count === 0);
  });

  const show = (step, quietly) => {
    at = Math.max(0, Math.min(last, step));
    walks.forEach((walk, index) => {
      const panel = one(`[data-panel="${index}"]`);
      const now = at ? walk.steps[at - 1] : null;
      showScene(panel, walk, now);
      showBus(panel, now);
      showMessages(panel, now);
      one(".tags", panel).replaceChildren(...(now ? now.tags : []).map(
        ([cls, text]) => make("span", `tag ${cls}`, text)));
      const sentence = one(".sentence", panel);
      sentence.textContent = now ? now.says : sentence.dataset.start;
      showTable(index, now);
      showCounts(index, now);
    });
    const text = at ? walks[0].steps[at - 1].text : "the start";
    document.getElementById("count").textContent = `${at} of ${last}`;
    document.getElementById("reference").textContent = text;
    const slider = document.getElementById("slider");
    slider.value = at;
    slider.setAttribute("aria-valuetext", `step ${at} of ${last}: ${text}`);
    all(".jump").forEach((jump, index) => {
      jump.classList.toggle("done", index + 1 < at);
      if (index + 1 === at) jump.setAttribute("aria-current", "step");
      else jump.removeAttribute("aria-current");
    });
    const current = one(".jump[aria-current]");
    const list = one(".references");
    if (current && list.scrollWidth > list.clientWidth) {
      list.scrollLeft = current.offsetLeft - list.offsetLeft - list.clientWidth / 3;
    }
    all("[data-go=first], [data-go=back]").forEach((button) => { button.disabled = at === 0; });
    all("[data-go=last], [data-go=on]").forEach((button) => { button.disabled = at === last; });
    if (quietly) return;
    document.getElementById("says").textContent = `Step ${at} of ${last}. ` + walks.map(
      (walk) => (walks.length > 1 ? `${walk.name}: ` : "")
        + (at ? walk.steps[at - 1].says : "The start: all caches are empty.")).join(" ");
    try {
      history.replaceState(null, "", at ? `#step-${at}` : location.pathname + location.search);
    } catch { /* a page within a page, as in a notebook, has no address of its own */ }
  };

  const pause = () => {
    clearInterval(timer);
    timer = null;
    const play = one(".play");
    document.getElementById("player").classList.remove("playing");
    play.setAttribute("aria-label", "Play");
  };
  const play = () => {
    if (timer !== null) { pause(); return; }
    if (at === last) show(0);
    const button = one(".play");
    document.getElementById("player").classList.add("playing");
    button.setAttribute("aria-label", "Pause");
    timer = setInterval(() => { show(at + 1); if (at === last) pause(); }, 1800);
    show(at + 1);
  };
  const go = {
    first: () => show(0), back: () => show(at - 1), on: () => show(at + 1),
    last: () => show(last), play,
  };
  const move = (name) => { if (name !== "play") pause(); go[name](); };

  all("[data-go]").forEach((button) => {
    button.addEventListener("click", () => move(button.dataset.go));
  });
  all(".jump").forEach((button) => {
    button.addEventListener("click", () => { pause(); show(Number(button.dataset.step)); });
  });
  document.getElementById("slider").addEventListener("input", (event) => {
    pause();
    show(Number(event.target.value));
  });
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play" };
  document.addEventListener("keydown", (event) => {
    const name = keys[event.key];
    if (!name || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.target.matches("input, select, textarea")) return;
    if (event.key === " " && event.target.closest("button, summary, a")) return;
    event.preventDefault();
    move(name);
  });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
  addEventListener("hashchange", () => {
    const wanted = /^#step-(\d+)$/.exec(location.hash);
    if (wanted) show(Number(wanted[1]));
  });

  document.getElementById("player").hidden = false;
  document.documentElement.dataset.ready = "yes";
  pause();
  const asked = /^#step-(\d+)$/.exec(location.hash);
  show(asked ? Number(asked[1]) : 0, true);
})();
