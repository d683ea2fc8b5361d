/* Connects allauth's passkey ceremony to the form of the page, and says so when the browser gave no passkey. */

const form = document.querySelector("script[data-button]").dataset;
const ids = { [form.button]: "use-passkey", credential: form.field };
if (form.options) ids.data = form.options;
if (form.passwordless) ids.passwordless = form.passwordless;
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  document.getElementById("passkey-failed").hidden = false;
});
window.allauth.webauthn.forms[`${form.button}Form`]({ ids });
// The button is shown once a click on it does something.
document.getElementById("use-passkey").hidden = false;
