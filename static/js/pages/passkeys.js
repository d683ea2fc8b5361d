/* Connects allauth's passkey ceremony to the form of the page, and shows if the browser gave no
   passkey. */

const form = document.querySelector("script[data-button]").dataset;
const ids = { [form.button]: "use-passkey", credential: form.field };
if (form.options) ids.data = form.options;
if (form.passwordless) ids.passwordless = form.passwordless;
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  document.getElementById("passkey-failed").hidden = false;
});
window.allauth.webauthn.forms[`${form.button}Form`]({ ids });
// Show the button when a click on it works.
document.getElementById("use-passkey").hidden = false;
