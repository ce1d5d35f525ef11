{# The end of a script that shows nodes: messages between lines that stand for these, the cells of
   the tables that a step uses, and counts. `showScenes` and `start` are the script's own. #}
  // A message goes from the line under its sender to that under its receiver.
  const rung = (act) => {
    const place = (node) => nodes.indexOf(node);
    const percent = (columns) => `${(100 * columns) / nodes.length}%`;
    const row = make("li", act.from === undefined ? "processor" : "");
    const text = make("span", "", act.what);
    const crosses = act.from !== undefined && act.from !== act.to;
    const head = make("div", crosses ? `hop ${act.way}` : "stays");
    if (crosses) {
      const [from, to] = [place(act.from), place(act.to)];
      head.style.setProperty("--from", percent(Math.min(from, to) + 0.5));
      head.style.setProperty("--span", percent(Math.abs(from - to)));
      head.classList.add(from < to ? "right" : "left");
      if (act.number) text.prepend(make("small", "", String(act.number)));
    } else {
      head.style.setProperty("--at", percent(place(act.node)));
    }
    head.append(text);
    const done = make("div", "comes-to");
    done.style.setProperty("--at", percent(place(act.node)));
    const what = make("span");
    what.append(`${act.side} `, make("b", "", act.change));
    done.append(what);
    row.append(head, done);
    row.title = [act.where, act.does, `directory: ${act.entry}`].filter(Boolean).join("; ");
    return row;
  };

  const showTable = (index, step) => {
    const used = new Set(step ? step.acts.map((act) => act.key) : []);
    all(`[data-table="${index}"] [data-keys]`).forEach((line) => {
      line.classList.toggle("used", line.dataset.keys.split(";").some((key) => used.has(key)));
    });
  };

  // Only accesses to pages have faults, and only there it is known how long a processor waits.
  const tagsOf = ({ crossed, cycles, fault, miss, outcome }) => {
    const tags = fault ? [tag("is-miss", "page fault")] : [];
    tags.push(outcomeTag(miss, outcome.replace("page fault, ", "")));
    const many = crossed === 1 ? "" : "s";
    tags.push(tag(crossed ? "is-bus" : "", `${crossed || "no"} message${many} between nodes`));
    if (cycles) tags.push(tag("", `${cycles.toLocaleString("en-US")} cycles`));
    return tags;
  };

  const showTotals = (index, walk) => {
    const step = at ? walk.steps[at - 1] : null;
    const counts = { ...(step ? step.messages : {}), bytes: step ? step.bytes : 0 };
    counts.messages = step ? Object.values(step.messages).reduce((sum, count) => sum + count, 0) : 0;
    const add = (name) => { counts[name] = (counts[name] ?? 0) + 1; };
    walk.steps.slice(0, at).forEach((done) => {
      // An acquire or a release says that it is no access.
      if (done.access === false) return;
      add(classSoFar(done));
      if (done.fault) add("fault");
    });
    showCounts(index, counts);
  };

  const showStep = (walk, index) => {
    const panel = one(`[data-panel="${index}"]`);
    const now = at ? walk.steps[at - 1] : null;
    showScenes(panel, walk, writers[index]);
    showWho(panel, now);
    one(".ladder", panel).replaceChildren(...(now ? now.acts.map(rung) : []));
    showTags(panel, walk, now, tagsOf);
    one(".sentence", panel).textContent = now ? now.says : start;
    showTable(index, now);
    showTotals(index, walk);
  };

  const show = (step, quietly) => {
    at = Math.max(0, Math.min(last, step));
    walks.forEach(showStep);
{% include "player.js" %}
