/** Whether this device says it when something comes, also while nobody looks at the page. */

import { notices, turnOff, turnOn } from "../live/notices";

export function Notify() {
  switch (notices.value) {
    case "unknown":
      return null;
    case "on":
      return (
        <button type="button" class="btn ghost sm" onClick={turnOff}>
          Turn notifications off
        </button>
      );
    case "off":
      return (
        <button type="button" class="btn ghost sm" onClick={() => void turnOn()}>
          Notify me on this device
        </button>
      );
    case "refused":
      return (
        <span class="small muted">
          Your browser blocks notifications from this page. Allow them in the browser’s settings for
          this site.{" "}
          <button type="button" class="btn ghost sm" onClick={() => void turnOn()}>
            Try again
          </button>
        </span>
      );
  }
}
