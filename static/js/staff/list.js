/* Lists by keyboard: with the focus on a row, J and K or the arrows move, Enter opens the row, and X
   chooses it. One row of each list is in the order of Tab. Without this script every link and box
   is reached by Tab. */

const MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

const rowsOf = (list) => Array.from(list.querySelectorAll("tbody > tr"));

/** Make *row* the one row of its list that Tab reaches. */
function enter(list, row) {
  for (const each of rowsOf(list)) each.tabIndex = each === row ? 0 : -1;
}

function onKey(event) {
  const row = event.target;
  if (!row.matches("tbody > tr") || event.ctrlKey || event.metaKey || event.altKey) return;
  const list = row.closest("[data-list]");
  const rows = rowsOf(list);
  if (event.key in MOVES) rows[rows.indexOf(row) + MOVES[event.key]]?.focus();
  else if (event.key === "Home") rows[0].focus();
  else if (event.key === "End") rows.at(-1).focus();
  else if (event.key === "Enter") row.querySelector("th a, td a")?.click();
  else if (event.key === "x") row.querySelector("[name=chosen]")?.click();
  else return;
  event.preventDefault();
}

for (const list of document.querySelectorAll("[data-list]")) {
  const [first] = rowsOf(list);
  if (first) enter(list, first);
  list.addEventListener("keydown", onKey);
  list.addEventListener("focusin", ({ target }) => target.matches("tbody > tr") && enter(list, target));
}
