/* The API documentation as a page to try calls from. A token stays in it until the page is left. */

const place = document.getElementById("swagger-ui");

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
});
