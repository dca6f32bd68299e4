/** Listens to the keyboard for the whole page, once. */

import { isField, meaningOf, pageKey, pressOf } from "../keys";
import { float, floating } from "./floats";
import { goTo, PAGES } from "./pages";

const GOING_MS = 1_500;

let goingUntil = 0;

function hear(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  // What floats has its own keys.
  if (document.querySelector("dialog[open]") !== null) return;
  const going = Date.now() < goingUntil;
  const meaning = meaningOf(pressOf(event), going);
  goingUntil = 0;
  switch (meaning.kind) {
    case "palette":
      float("palette");
      break;
    case "shortcuts":
      float("shortcuts");
      break;
    case "go":
      goingUntil = Date.now() + GOING_MS;
      return;
    case "page": {
      const page = PAGES.find(({ key }) => key.toLowerCase() === meaning.key);
      if (page === undefined) return;
      void goTo(page.name);
      break;
    }
    case "leave":
      if (floating.value !== null) return;
      if (isField(event.target)) (event.target as HTMLElement).blur();
      return;
    case "key": {
      const does = pageKey(meaning.key);
      if (does === undefined) return;
      does(event);
      break;
    }
    case "nothing":
      return;
  }
  event.preventDefault();
}

let listening = false;

export function listenToKeys(): void {
  if (listening) return;
  listening = true;
  addEventListener("keydown", hear);
}
