{# What every page with steps begins with: `walks` is what it shows. #}
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
  const open = "invalidation miss, true or false shows later";
  walks.forEach((walk, index) => {
    const rows = all(`[data-steps="${index}"] tbody tr`);
    walk.steps.forEach((step, number) => {
      const [facts, words] = [rows[2 * number], rows[2 * number + 1]];
      step.text = facts.cells[1].textContent;
      step.outcome = facts.cells[2].textContent;
      step.says = words.cells[1].textContent;
    });
  });

  // Who made each write, from 1 on.
  const writers = walks.map((walk) => {
    const found = [null];
    walk.steps.forEach((step) => { if (step.writes) found.push(step.processor); });
    return found;
  });

  const showWords = (place, names, values, mark) => {
    place.replaceChildren(...values.map((value, index) => {
      const word = make("span", "word");
      if (value) word.classList.add(`of-${mark.writers[value]}`);
      if (mark.latest[index] !== value) word.classList.add("old");
      if (mark.touched.includes(names[index])) word.classList.add("touched");
      word.append(make("i", "", names[index]), String(value));
      return word;
    }));
  };

  const showBadge = (place, state, colour, changed) => {
    const badge = one(".badge", place);
    badge.textContent = state;
    badge.className = `badge ${colour}`;
    badge.classList.toggle("changed", changed);
  };

  const showWho = (panel, step) => all(".cache", panel).forEach((cache, place) => {
    const acts = step !== null && step.processor === place;
    cache.classList.toggle("acts", acts);
    one(".does", cache).textContent = acts ? step.text.replace(/^[NP]\d+ /, "") : "";
  });

  // The part of a step's description that is known at once; the rest follows later.
  const tag = (cls, text) => make("span", `tag ${cls}`, text);
  const outcomeTag = (miss, outcome) => {
    const later = miss && miss.known !== at - 1;
    return tag(miss ? (later ? "is-later" : "is-miss") : "", later ? open : outcome);
  };
  const showTags = (panel, walk, step, tags) => {
    const shown = step ? tags(step) : [];
    if (step && step.private) shown.push(tag("", "private area"));
    walk.steps.slice(0, Math.max(at - 1, 0)).forEach(({ miss, outcome }, number) => {
      if (miss && (miss.known === at - 1 || (miss.known === null && at === last))) {
        shown.push(tag("is-miss", `step ${number + 1}: ${outcome}`));
      }
    });
    one(".tags", panel).replaceChildren(...shown);
  };

  // The class of a miss as known at this step.
  const classSoFar = ({ miss }) => {
    const known = miss && (miss.known ?? last) < at;
    return !miss ? "hit" : known || at === last ? miss.class : "open";
  };
  const showCounts = (index, counts) => {
    all(`[data-total="${index}"] [data-count]`).forEach((cell) => {
      const count = counts[cell.dataset.count] ?? 0;
      cell.textContent = count.toLocaleString("en-US");
      cell.classList.toggle("nought", count === 0);
    });
  };
