{# The end of `show`, which has shown the panels, and what moves from step to step. #}
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
