/* Small helpers for the document. */

/** Parse HTML into a fragment. */
export function parseFragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** Parse HTML and return its first element, or null. */
export const parseElement = (html) => parseFragment(html).firstElementChild;

/** Set the text of an element only if it differs: screen readers announce each write to a live
    region. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
