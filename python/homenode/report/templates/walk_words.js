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

  // The words of a step stand on the page already.
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
