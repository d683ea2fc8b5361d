/* Names the faults in the layout of the page in its current state and size: one sentence for each fault.

   Text counts where a reader can see it: text for screen readers only, closed parts and elements outside the page (the
   link that skips the header) are left out. While something is open on top of the page, only that is looked at. */
() => {
  const ROUNDING = 1; // CSS pixels
  // CSS pixels: the side of the smallest control. A finger hits 44; staff at a desk point with a mouse, which hits 32
  // (WCAG 2.2, 2.5.8, asks for 24).
  const isDesk = document.body.classList.contains("staff") && matchMedia("(min-width: 861px) and (pointer: fine)").matches;
  const SMALLEST = isDesk ? 32 : 44;
  const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary";

  const root = document.querySelector("dialog:modal") ?? document.querySelector(":popover-open") ?? document.body;
  const faults = new Set();

  /* Nothing here changes the page: what was found out of an element once holds until the end. */
  function onlyOnce(find) {
    const found = new Map();
    return (element) => {
      if (!found.has(element)) found.set(element, find(element));
      return found.get(element);
    };
  }

  const styleOf = onlyOnce((element) => {
    const { clipPath, display, overflowX, overflowY, position, textOverflow, zIndex } = getComputedStyle(element);
    return { clipPath, display, overflowX, overflowY, position, textOverflow, zIndex };
  });
  const boxOf = onlyOnce((element) => element.getBoundingClientRect());
  const isInline = (element) => ["inline", "contents"].includes(styleOf(element).display);
  const isBox = (element) => !isInline(element) && !styleOf(element).display.startsWith("table-row"); // cells span rows
  const shorten = (text) => text.trim().replace(/\s+/g, " ").slice(0, 50);

  function* upFrom(element) {
    for (let each = element; each && each !== document.documentElement; each = each.parentElement) yield each;
  }

  const isForEars = onlyOnce((element) =>
    Boolean(element) && element !== document.documentElement &&
    (styleOf(element).clipPath === "inset(50%)" || isForEars(element.parentElement)));

  const isSeen = onlyOnce((element) => {
    const box = boxOf(element);
    return (
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      box.width > 0 && box.height > 0 && box.right + scrollX > 0 && box.bottom + scrollY > 0 &&
      !isForEars(element)
    );
  });

  function nameOf(element) {
    const own = element.id ? `#${element.id}` : [element.localName, ...element.classList].join(".");
    return `${own} “${shorten(element.textContent || element.value || element.ariaLabel || "")}”`;
  }

  const report = (kind, element, detail = "") => faults.add(`${kind}: ${nameOf(element)} ${detail}`.trim());

  /* --- The page and its scrolling parts -------------------------------------------------------------------------- */

  function checkScrolling() {
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth + ROUNDING) {
      faults.add(`the page is wider than the window: ${page.scrollWidth} in ${page.clientWidth} px`);
    }
    for (const element of root.querySelectorAll("*")) {
      const scrolls = ["auto", "scroll"].includes(styleOf(element).overflowX);
      if (scrolls && element.scrollWidth > element.clientWidth + ROUNDING && isSeen(element)) {
        report("scrolls sideways", element, `${element.scrollWidth} in ${element.clientWidth} px`);
      }
    }
  }

  /* --- Text ------------------------------------------------------------------------------------------------------- */

  function* textsOf(element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) if (walker.currentNode.data.trim()) yield walker.currentNode;
  }

  function areaOf(text) {
    const range = document.createRange();
    range.selectNodeContents(text);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    return { left, right, top, bottom, line: range.getClientRects()[0]?.height ?? 0 };
  }

  /* Letters are lower than the line they are set in: a quarter of it may lie outside above and below. */
  function isIn(area, box) {
    const air = area.line / 4;
    return {
      across: area.left >= box.left - ROUNDING && area.right <= box.right + ROUNDING,
      down: area.top + air >= box.top - ROUNDING && area.bottom - air <= box.bottom + ROUNDING,
    };
  }

  function checkText(text) {
    const area = areaOf(text);
    for (const element of upFrom(text.parentElement)) {
      const style = styleOf(element);
      if (isBox(element)) {
        if (["auto", "scroll"].includes(style.overflowX) || ["auto", "scroll"].includes(style.overflowY)) return;
        const inside = isIn(area, boxOf(element));
        const cuts = style.overflowX !== "visible" || style.overflowY !== "visible";
        if (!inside.across || !inside.down) {
          if (cuts && style.textOverflow === "ellipsis") return;
          report(cuts ? "text is cut off" : "text sticks out of its box", element, `text “${shorten(text.data)}”`);
          return;
        }
      }
      if (["absolute", "fixed"].includes(style.position)) return; // placed by hand: its parents do not hold it
    }
  }

  /* --- Controls ----------------------------------------------------------------------------------------------------- */

  /* The target of a finger: a box or dot together with its label. */
  function targetOf(control) {
    const boxes = [control, ...(["checkbox", "radio"].includes(control.type) ? control.labels : [])]
      .filter(isSeen).map(boxOf);
    if (!boxes.length) return null;
    const left = Math.min(...boxes.map((box) => box.left));
    const top = Math.min(...boxes.map((box) => box.top));
    const right = Math.max(...boxes.map((box) => box.right));
    const bottom = Math.max(...boxes.map((box) => box.bottom));
    return { control, left, top, right, bottom, width: right - left, height: bottom - top };
  }

  /* A link in a sentence is as high as its line (WCAG 2.2, 2.5.8, “Inline”). */
  function isInSentence(control) {
    if (control.localName !== "a" || styleOf(control).display !== "inline") return false;
    const block = [...upFrom(control.parentElement)].find((each) => !isInline(each));
    const links = [...block.querySelectorAll("a")].map((link) => link.textContent).join("");
    return block.textContent.replace(/\s/g, "").length > links.replace(/\s/g, "").length;
  }

  /* The part of a target that scrolling or clipping ancestors leave visible: no finger can press the rest. */
  function shownOf(target) {
    const shown = { ...target };
    let held = styleOf(target.control).position; // what is placed by hand is cut from what it is placed in upwards
    for (const element of upFrom(target.control.parentElement)) {
      const style = styleOf(element);
      if (held === "fixed") break;
      if (held === "absolute" && style.position === "static") continue;
      held = style.position;
      if (!isBox(element) || style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = boxOf(element);
      shown.left = Math.max(shown.left, box.left);
      shown.right = Math.min(shown.right, box.right);
      shown.top = Math.max(shown.top, box.top);
      shown.bottom = Math.min(shown.bottom, box.bottom);
    }
    return shown;
  }

  const layerOf = onlyOnce((control) =>
    [...upFrom(control)].find((each) => styleOf(each).position !== "static" && styleOf(each).zIndex !== "auto"));

  function overlap(one, other) {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    return across > ROUNDING && down > ROUNDING && layerOf(one.control) === layerOf(other.control);
  }

  const within = (one, other) =>
    one.left >= other.left - ROUNDING && one.right <= other.right + ROUNDING &&
    one.top >= other.top - ROUNDING && one.bottom <= other.bottom + ROUNDING;

  /* One contains the other, or is wholly on top of it, like the button that removes a chip from its bet area. */
  const belong = (one, other) => within(one, other) || within(other, one);

  function checkControls() {
    const controls = [...root.querySelectorAll(CONTROLS)].filter((control) => !isInSentence(control));
    const targets = controls.map(targetOf).filter(Boolean);
    const shown = targets.map(shownOf);
    targets.forEach((one, index) => {
      if (Math.min(one.width, one.height) < SMALLEST - ROUNDING / 2) {
        report("control is small", one.control, `${Math.round(one.width)} × ${Math.round(one.height)} px`);
      }
      for (let next = index + 1; next < targets.length; next += 1) {
        const other = targets[next];
        if (!belong(one, other) && overlap(shown[index], shown[next])) {
          report("controls overlap", one.control, `and ${nameOf(other.control)}`);
        }
      }
    });
  }

  checkScrolling();
  for (const text of textsOf(root)) if (isSeen(text.parentElement)) checkText(text);
  checkControls();
  return [...faults];
};
