/** The names of this server. A link there, in a text that others wrote, is shown and not followed. */

let hosts: readonly string[] = [];

/** Told by the server, as `Host` has them: `localhost:8888`, `portal.example`. */
export function knowHosts(told: readonly string[]): void {
  hosts = told;
}

/** Whatever leads to the machine itself, however it is written. */
const LOOPBACK =
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/;

export function isOwn(
  address: string,
  own: readonly string[] = [location.host, ...hosts],
): boolean {
  const there = parsed(address);
  if (there === null || !/^https?:$/.test(there.protocol)) return false;
  const name = there.hostname.replace(/\.$/, "");
  const isLocal = LOOPBACK.test(name);
  return own.some((host) => {
    const one = parsed(`${there.protocol}//${host}`);
    if (one === null || one.port !== there.port) return false;
    return one.hostname === name || (isLocal && LOOPBACK.test(one.hostname));
  });
}

function parsed(address: string): URL | null {
  try {
    return new URL(address);
  } catch {
    return null;
  }
}
