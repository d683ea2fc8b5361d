/* A button that copies what stands beside it ("data-copies" names it by its id), and says whether it could. Without this
   script there is no button: what is to be copied can be marked. */
"use strict";

{
  const button = document.querySelector("[data-copies]");
  const text = document.getElementById(button.dataset.copies);
  const said = document.getElementById("copied");

  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      said.textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(text); // no clipboard without HTTPS, or none allowed
      said.textContent = button.dataset.failed;
    }
  });
}
