/* The style guide's one live part that needs a script of its own: a toast on demand. */
"use strict";

document.querySelector("[data-toast]").addEventListener("click", (event) => toast(event.target.dataset.toast));
