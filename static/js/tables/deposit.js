/* Deposit without leaving a table: the cashier's form opens in a dialog. Without a script, or if
   it cannot be loaded, the link leads to the cashier, which leads back. */

const sheet = document.getElementById("deposit-sheet");

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-deposit]");
  if (!link || !sheet || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const beside = document.getElementById("body-cashier"); // the panel of a live table has the same form
  const amount = beside?.querySelector("[name=amount]");
  if (amount?.checkVisibility()) {
    amount.focus();
    return;
  }
  if (!beside?.checkVisibility()) beside?.replaceChildren(); // it is loaded again when it is shown
  const address = `${link.href}?next=${encodeURIComponent(location.pathname)}`;
  await htmx.ajax("GET", `${address}&sheet=1`, { target: sheet, swap: "innerHTML" });
  if (sheet.hasChildNodes()) sheet.showModal();
  else location.assign(address);
});
