/* The page without a connection: ask once more for what it stands in for. */
"use strict";

document.getElementById("again").addEventListener("click", () => location.reload());
