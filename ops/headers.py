"""What every answer of the house says to a browser beside the policy of its page: pages, files, streams, refusals."""

from typing import Final

# What no page of the house asks a browser for, so that nothing that got into one could either.
UNUSED: Final = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone"),
    *("midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)
FOR_ALL: Final = {
    "Permissions-Policy": ", ".join(f"{each}=()" for each in UNUSED),
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Of what is answered before any page is asked: in it nothing is to be shown, loaded, framed or kept.
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
