import { expect, test } from "vitest";
import { isOwn } from "./own";

const OWN = ["127.0.0.1:8888", "localhost:8888", "[::1]:8888", "portal.example"];

test("every name of this server is its own, however it is written", () => {
  for (const address of [
    "http://localhost:8888/api/stop",
    "http://LOCALHOST:8888",
    "http://localhost.:8888/",
    "http://a.localhost:8888/",
    "http://127.0.0.1:8888/api/copilot/session/start/m",
    "http://127.1:8888/",
    "http://2130706433:8888/",
    "http://0x7f.1:8888/",
    "http://127.0.0.2:8888/",
    "http://0.0.0.0:8888/",
    "http://0:8888/",
    "http://[::1]:8888/",
    "http://[0:0:0:0:0:0:0:1]:8888/",
    "http://[::ffff:127.0.0.1]:8888/",
    "http://user:word@localhost:8888/",
    "https://localhost:8888/",
    "https://portal.example/api/stop",
    "https://PORTAL.example.:443/",
    "http://portal.example/",
  ]) {
    expect([address, isOwn(address, OWN)]).toEqual([address, true]);
  }
});

test("others are not: another port, another host, another kind of address", () => {
  for (const address of [
    "http://localhost:3000/",
    "http://localhost/",
    "https://portal.example:8443/",
    "https://portal.example.org/",
    "https://example.org/?to=http://localhost:8888/",
    "https://notlocalhost:8888/",
    "mailto:someone@localhost",
    "not an address",
  ]) {
    expect([address, isOwn(address, OWN)]).toEqual([address, false]);
  }
});
