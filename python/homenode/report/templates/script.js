"use strict";
(() => {
  const data = JSON.parse(document.getElementById("homenode-data").textContent);
  const tip = document.getElementById("tip");
  const make = (name, text, cls) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (cls) node.className = cls;
    return node;
  };
  const grouped = (value) => Math.round(value).toLocaleString("en-US");
  const number = (value, digits = 4) => {
    if (value === null || value === undefined) return "∞";
    if (Math.abs(value) >= 10 ** (digits - 1)) return grouped(value);
    return String(Number(value.toPrecision(digits)));
  };
  const times = (ratio) => {
    if (ratio === null) return "–";
    if (ratio < 10) return ratio.toFixed(2) + "×";
    return (ratio >= 1000 ? grouped(ratio) : String(Number(ratio.toPrecision(3)))) + "×";
  };
  const sizeName = (size) => {
    for (const [unit, name] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [1024, "KB"]]) {
      if (size >= unit && size % unit === 0) return `${size / unit} ${name}`;
    }
    return `${size} B`;
  };
  const showTip = (content, x, y) => {
    tip.replaceChildren(...content);
    tip.hidden = false;
    const width = document.documentElement.clientWidth;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, width - box.width - 4)) + scrollX}px`;
    const below = y + 16 + box.height < innerHeight;
    tip.style.top = `${(below ? y + 16 : y - box.height - 10) + scrollY}px`;
  };
  const hideTip = () => { tip.hidden = true; };

  const unpack = ({ fields, rows }) => rows.map((values) => {
    const outcome = {};
    fields.forEach((field, index) => {
      const [name, inner] = field.split(".");
      if (inner === undefined) outcome[name] = values[index];
      else (outcome[name] ??= {})[inner] = values[index];
    });
    return outcome;
  });
  data.studies.forEach((study) => { study.outcomes = unpack(study.outcomes); });

  // From the outcomes, as `homenode simulate --json` prints them, to arrays by machine, policy, size.
  const arrange = (study) => {
    const key = (row) => `${row.machine}\n${row.policy}\n${row.block_size}`;
    const found = new Map(study.outcomes.map((row) => [key(row), row]));
    const each = (pick) => study.machines.map((machine) => study.policies.map((policy) =>
      study.sizes.map((size) => pick(found.get(key({ machine, policy, block_size: size }))))));
    study.mcpr = each((row) => row?.mcpr ?? null);
    study.total = each((row) => row?.total_ns ?? row?.total_cost ?? null);
    study.parts = each((row) => ((row?.mcpr ?? null) === null ? null
      : data.parts.map((part) => (row.cost[part] ?? 0) / Math.max(row.accesses, 1))));
  };

  // The bars of one section at a chosen machine and block size.
  const drawBars = (section, study, machine, size) => {
    const table = section.querySelector(".bars");
    const values = study.policies.map((_, p) => study.mcpr[machine][p][size]);
    const finite = values.filter((value) => value !== null);
    const optimum = study.policies.indexOf("optimal");
    const best = optimum < 0 ? null : values[optimum];
    const largest = finite.length ? Math.max(...finite) : 1;
    const limit = best ? Math.min(largest, 8 * best) : largest;
    table.querySelector(".at-machine").textContent = study.machines[machine];
    table.querySelector(".at-size").textContent = sizeName(study.sizes[size]);
    const inNanoseconds = study.outcomes.some((row) =>
      row.machine === study.machines[machine] && (row.total_ns ?? null) !== null);
    table.querySelector(".unit").textContent = inNanoseconds ? "ns" : "local references";
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const place = (row) => study.policies.indexOf(row.dataset.policy);
    const cost = (row) => values[place(row)] ?? Infinity;
    for (const row of rows) {
      const policy = place(row);
      const value = values[policy];
      const parts = study.parts[machine][policy][size] ?? data.parts.map(() => 0);
      data.parts.forEach((key, index) => {
        const bar = row.querySelector(`.part-${key}`);
        if (bar) bar.style.width = `${(100 * parts[index]) / limit}%`;
      });
      const line = row.querySelector(".reference");
      line.hidden = best === null;
      line.style.left = best === null ? "0" : `${(100 * best) / limit}%`;
      row.querySelector(".cut")?.remove();
      if (value > limit * 1.0001) row.querySelector(".track div").append(make("b", "", "cut"));
      row.querySelector(".mcpr").textContent = number(value);
      row.querySelector(".total").textContent = number(study.total[machine][policy][size]);
      const ratio = best && value !== null ? value / best : null;
      row.querySelector(".ratio").textContent = times(ratio);
    }
    rows.sort((a, b) => cost(a) - cost(b) || place(a) - place(b));
    body.append(...rows);
  };

  const controls = (section, study) => {
    const form = section.querySelector(".controls");
    form.hidden = false;
    const chosen = (what) => {
      const input = form.querySelector(`input[name$="-${what}"]:checked`);
      return input ? Number(input.value) : 0;
    };
    const redraw = () => {
      const machine = chosen("machine");
      const size = chosen("size");
      drawBars(section, study, machine, size);
      const says = section.querySelector(".bars ~ .says");
      says.hidden = section.dataset.first !== `${machine}/${size}`;
    };
    section.dataset.first = `${chosen("machine")}/${chosen("size")}`;
    form.addEventListener("change", redraw);
    redraw();
  };

  // Lines: point or use the arrow keys to read the values at a block size.
  const panelTip = (panel, study, machine, at, near) => {
    const rows = study.policies
      .map((policy, p) => ({ policy, value: study.mcpr[machine][p][at] }))
      .filter(({ policy }) => !panel.querySelector(`[data-policy="${policy}"].off`))
      .sort((a, b) => (b.value ?? Infinity) - (a.value ?? Infinity));
    const table = make("table");
    for (const { policy, value } of rows) {
      const row = table.insertRow();
      if (policy === near) row.className = "here";
      row.insertCell().textContent = policy;
      row.insertCell().textContent = number(value);
    }
    return [make("b", `${study.machines[machine]}, ${sizeName(study.sizes[at])}`), table];
  };
  const panels = (section, study) => {
    section.querySelectorAll("svg.panel").forEach((panel) => {
      const machine = study.machines.indexOf(panel.dataset.machine);
      const xs = panel.dataset.x.split(" ").map(Number);
      const cursor = panel.querySelector(".cursor");
      let at = xs.length >> 1;
      const show = (index, clientX, clientY) => {
        at = index;
        cursor.setAttribute("x1", xs[at]);
        cursor.setAttribute("x2", xs[at]);
        cursor.classList.add("on");
        showTip(panelTip(panel, study, machine, at), clientX, clientY);
      };
      const hide = () => {
        cursor.classList.remove("on");
        hideTip();
      };
      panel.addEventListener("pointermove", (event) => {
        const box = panel.getBoundingClientRect();
        const x = ((event.clientX - box.left) * 360) / box.width;
        let index = 0;
        xs.forEach((where, i) => {
          if (Math.abs(where - x) < Math.abs(xs[index] - x)) index = i;
        });
        show(index, event.clientX, event.clientY);
      });
      panel.addEventListener("pointerleave", hide);
      panel.addEventListener("blur", hide);
      const byKey = () => {
        const box = panel.getBoundingClientRect();
        show(at, box.left + (xs[at] * box.width) / 360, box.top + box.height / 3);
      };
      panel.addEventListener("focus", () => { if (panel.matches(":focus-visible")) byKey(); });
      panel.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Escape") hide();
        if (step === undefined) return;
        event.preventDefault();
        at = Math.max(0, Math.min(xs.length - 1, at + step));
        byKey();
      });
    });
    section.querySelectorAll(".toggles button").forEach((button) => {
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        section.querySelectorAll(".series").forEach((line) => {
          if (line.dataset.policy === button.dataset.policy) line.classList.toggle("off", !shown);
        });
      });
    });
  };

  // A picture of cells: point or use the arrow keys to read one.
  const cells = (svg, [rows, columns], told) => {
    const left = Number(svg.dataset.left);
    const top = Number(svg.dataset.top ?? 0);
    const cell = Number(svg.dataset.cell);
    const height = Number(svg.dataset.row);
    const cursor = svg.querySelector(".cell-cursor");
    let [row, column] = [0, 0];
    const show = (x, y) => {
      cursor.setAttribute("x", left + column * cell);
      cursor.setAttribute("y", top + row * height);
      cursor.classList.add("on");
      showTip(told(row, column), x, y);
    };
    const hide = () => { cursor.classList.remove("on"); hideTip(); };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      column = Math.floor(((event.clientX - box.left) * scale - left) / cell);
      row = Math.floor(((event.clientY - box.top) * scale - top) / height);
      const inside = column >= 0 && column < columns && row >= 0 && row < rows;
      if (inside) show(event.clientX, event.clientY); else hide();
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      if (event.key === "Escape") hide();
      if (!step[event.key]) return;
      event.preventDefault();
      row = Math.max(0, Math.min(rows - 1, row + step[event.key][0]));
      column = Math.max(0, Math.min(columns - 1, column + step[event.key][1]));
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      show(box.left + (left + column * cell) * scale, box.top + (top + row * height) * scale);
    });
  };
  const map = (section, sharing) => {
    const svg = section.querySelector("svg.heat");
    if (!svg || !sharing) return;
    const stretches = sharing.rows;
    const threads = stretches[0].reads.length;
    cells(svg, [threads, stretches.length], (thread, column) => {
      const { address, object, reads, writes } = stretches[column];
      const sharers = reads.filter((count, p) => count + writes[p] > 0).length;
      return [
        make("b", `processor ${thread}: ${grouped(reads[thread])} reads, ${grouped(writes[thread])} writes`),
        make("div", `${object ? `${object}: ` : ""}${address}, ${sizeName(sharing.row_bytes)}`),
        make("div", `touched by ${sharers} of ${threads} processors`),
      ];
    });
  };
  const pages = (section, pictures) => section.querySelectorAll("svg.pages").forEach((svg, at) => {
    const { nodes, columns } = pictures[at];
    cells(svg, [nodes, columns.length], (node, column) => {
      const { object, pages: count, address, homes, fills } = columns[column];
      const found = fills.find(([who]) => who === node);
      const where = homes.length > 4 ? `${homes.length} nodes` : `node ${homes.join(", ")}`;
      return [
        make("b", `node ${node}: ${grouped(found ? found[1] : 0)} fills`),
        make("div", `${object}: ${count > 1 ? `${count} pages from ` : ""}${address}`),
        make("div", `home: ${where}; filled by ${fills.length} of ${nodes} nodes`),
      ];
    });
  });

  const save = (kind) => {
    const outcomes = data.studies.flatMap((study) => study.outcomes);
    let text = JSON.stringify(outcomes, null, 2);
    if (kind === "csv") {
      const names = ["trace", "machine", "policy", "block_size", "processors", "references",
        "accesses", "total_cost", "mcpr"];
      const quote = (value) => (/[",\n]/.test(value) ? `"${String(value).replace(/"/g, '""')}"` : value);
      text = [names, ...outcomes.map((row) => names.map((name) => quote(row[name] ?? "inf")))]
        .map((row) => row.join(",")).join("\n") + "\n";
    }
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = `homenode.${kind}`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  document.querySelector(".save").hidden = false;
  document.querySelectorAll("[data-save]").forEach((button) => {
    button.addEventListener("click", () => save(button.dataset.save));
  });
  document.querySelectorAll(".study").forEach((section) => {
    const study = data.studies[Number(section.dataset.study)];
    arrange(study);
    controls(section, study);
    panels(section, study);
    map(section, study.sharing);
    pages(section, study.pages);
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  document.documentElement.dataset.ready = "yes";
})();
