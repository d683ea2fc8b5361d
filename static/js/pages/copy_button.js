/* A button that copies a text (data-copies is the id of its element) and shows the result.
   Without this script there is no button, and the text can be selected by hand. */

const button = document.querySelector("[data-copies]");
const text = document.getElementById(button.dataset.copies);
const said = document.getElementById("copied");

button.hidden = false;
button.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(text.textContent);
    said.textContent = button.dataset.copied;
  } catch {
    getSelection().selectAllChildren(text); // no clipboard without HTTPS or permission
    said.textContent = button.dataset.failed;
  }
});
