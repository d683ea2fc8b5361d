/* Small helpers for the document. */

/** Parse HTML into a fragment. */
export function parseFragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** Parse HTML and return its first element, or null. */
export const parseElement = (html) => parseFragment(html).firstElementChild;

/** Set the text of an element only if it differs: screen readers announce each write to a live region. The text node
    stays, since another one would cost a style of all that a rule with :has() can be about. */
export function setText(element, text) {
  if (element.textContent === text) return;
  if (element.firstChild?.nodeType === Node.TEXT_NODE && !element.firstElementChild) element.firstChild.data = text;
  else element.textContent = text;
}
