"""What a receiver of webhooks needs: is this post genuine, and have I had it already?"""

import base64
import hashlib
import hmac
import time


class Forged(Exception):
    """Not from the gateway, or recorded and sent again."""


def verify(secret, headers, body, now=None):
    """Checks a delivery as https://www.standardwebhooks.com asks, over the bytes as they came.

    secret: `whsec_…`, shown once when the webhook was made. Raises `Forged`.
    """
    identifier, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs((now or time.time()) - int(timestamp)) > 300:
        raise Forged("the timestamp is not of now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b".".join([identifier.encode(), timestamp.encode(), body])
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # Several while a secret is being rotated.
    for signature in headers["webhook-signature"].split():
        if hmac.compare_digest(signature, "v1," + expected):
            return
    raise Forged("no signature fits")
