// Ties allauth's passkey ceremony to the form of the page, and says so where a browser had no passkey to give.
"use strict";
{
  const asked = document.currentScript.dataset;
  const ids = { [asked.button]: "use-passkey", credential: asked.field };
  if (asked.options) ids.data = asked.options;
  if (asked.passwordless) ids.passwordless = asked.passwordless;
  document.addEventListener("allauth.error", (event) => {
    event.preventDefault();
    document.getElementById("passkey-failed").hidden = false;
  });
  window.allauth.webauthn.forms[`${asked.button}Form`]({ ids });
  // Shown when a press on it does something.
  document.getElementById("use-passkey").hidden = false;
}
