/* Deposit without leaving a solo table: the cashier's form opens in a dialog. Without a script, or if
   it cannot be loaded, the link leads to the cashier, which leads back. */

const sheet = document.getElementById("deposit-sheet");

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-deposit]");
  if (!link || !sheet || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const address = `${link.href}?next=${encodeURIComponent(location.pathname)}`;
  await htmx.ajax("GET", `${address}&sheet=1`, { target: sheet, swap: "innerHTML" });
  if (sheet.hasChildNodes()) sheet.showModal();
  else location.assign(address);
});
