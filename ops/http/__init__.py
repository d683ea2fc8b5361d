"""HTTP server of web, and the security headers of every response in addition to the page's CSP:
pages, files, streams, errors.
"""

from typing import Final

# Browser features that no page uses, disabled so that injected code cannot use them.
UNUSED: Final = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone"),
    *("midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)
FOR_ALL: Final = {
    "Permissions-Policy": ", ".join(f"{each}=()" for each in UNUSED),
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Headers of responses that do not come from a Django view: nothing may be displayed, loaded, framed or cached.
BARE: Final = tuple(
    (name.lower().encode(), value.encode())
    for name, value in {
        **FOR_ALL,
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }.items()
)
