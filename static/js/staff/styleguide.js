/* The style guide shows a toast on demand. */

import { showToast } from "../common/toasts.js";

document.querySelector("[data-toast]").addEventListener("click", (event) => showToast(event.target.dataset.toast));
