{# Messages between lines that stand for nodes, and the cells of the tables that a step uses. #}
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
