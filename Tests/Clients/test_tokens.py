"""Tokens that PyJWT and cryptography have made: what a customer's own login service would sign."""

import time

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa


def claims(**more):
    return {"iss": "https://login.example", "sub": "ana", "exp": int(time.time()) + 300, **more}


def pair(algorithm):
    private = {
        "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
        "EdDSA": ed25519.Ed25519PrivateKey.generate,
    }[algorithm]()
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private, public.decode()


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_tokens_of_a_registered_key_open_what_it_may(gateway, algorithm):
    private, public = pair(algorithm)
    key = gateway.call(
        "POST",
        "/v1/keys",
        {"scopes": ["read", "emit"], "channels": ["a.*"], "jwt": {"alg": algorithm, "public_key": public}},
    ).json()
    assert "key" not in key and key["jwt"] == {"alg": algorithm, "public_key": public}

    def ask(token, channel="a.b"):
        return gateway.call("GET", f"/v1/channels/{channel}/events", key=token).status_code

    headers = {"kid": key["id"]}
    good = jwt.encode(claims(), private, algorithm, headers=headers)
    assert ask(good) == 200
    assert ask(good, "b") == 403
    assert ask(jwt.encode(claims(channels=["b"]), private, algorithm, headers=headers)) == 401
    assert ask(jwt.encode(claims(exp=int(time.time()) - 90), private, algorithm, headers=headers)) == 401
    assert ask(jwt.encode(claims(), pair(algorithm)[0], algorithm, headers=headers)) == 401
    assert ask(jwt.encode(claims(), private, algorithm)) == 401, "without kid nobody knows the key"
    # The public key in the place of a shared secret, which PyJWT itself refuses to sign with.
    forged = jwt.api_jws.PyJWS()
    forged._algorithms["HS256"].prepare_key = lambda key: key if isinstance(key, bytes) else key.encode()
    assert ask(forged.encode(b'{"sub":"ana","exp":99999999999}', public, "HS256", headers=headers)) == 401
    gateway.call("DELETE", f"/v1/keys/{key['id']}").raise_for_status()
    gateway.wait_for_all("GET", "/v1/channels/a.b/events", lambda answer: answer.status_code == 401, key=good)


def test_a_token_made_here_is_a_jwt_under_the_apps_secret(gateway):
    asked = {"user": "ana", "scopes": ["read", "emit"], "expires_in_seconds": 60}
    token = gateway.call("POST", "/v1/tokens", asked).json()["token"]
    read = jwt.decode(token, "demo-secret", ["HS256"], issuer="demo")
    assert read["sub"] == "ana" and read["scope"] == "emit read" and 50 <= read["exp"] - time.time() <= 61
    own = jwt.encode({**claims(scope="emit"), "iss": "demo"}, "demo-secret", "HS256")
    for each in (token, own):
        answer = gateway.call("POST", "/v1/channels/room/messages", {"text": "hi"}, key=each)
        assert answer.status_code == 201, answer.text
