"""How a test signs in as a browser does: by an address, for a cookie and a key."""

from dataclasses import dataclass
from functools import cache

import httpx2


@dataclass(frozen=True)
class Signed:
    """Both parts of one sign-in."""

    cookie_name: str
    cookie: str
    key: str

    @property
    def cookie_alone(self) -> dict[str, str]:
        """What a browser sends by itself, among other cookies."""
        return {"Cookie": f"other=1; {self.cookie_name}={self.cookie}; more=2"}

    @property
    def headers(self) -> dict[str, str]:
        """What the page sends."""
        return {**self.cookie_alone, "X-Airboss-Key": self.key}


def signed_by(answer: httpx2.Response) -> Signed:
    """By the answer to `POST /api/v1/signin`."""
    assert answer.status_code == 200, answer.text
    pair = answer.headers["set-cookie"].partition(";")[0]
    name, _, value = pair.partition("=")
    return Signed(name, value, str(answer.json()["key"]))


def sign_in_anew(url: str, token: str, **headers: str) -> Signed:
    """As a browser that nobody has seen before."""
    made = httpx2.post(f"{url}/api/v1/links", headers={"Authorization": f"Bearer {token}"})
    code = str(made.json()["url"]).rpartition("=")[2]
    asked = {"Origin": url, **headers}
    return signed_by(httpx2.post(f"{url}/api/v1/signin", json={"code": code}, headers=asked))


@cache
def sign_in(url: str, token: str) -> Signed:
    """One for each server: it is good for as long as the server's data folder."""
    return sign_in_anew(url, token)
