/** Whether Enter sends what was written, or begins a line. Kept on this device. */

import { signal } from "@preact/signals";
import { remember, remembered } from "../storage";

/** On the keys of a screen there is no Shift to hold. */
const isTouched = (): boolean => matchMedia("(hover: none) and (pointer: coarse)").matches;

const kept = remembered("enter");

export const enterSends = signal(kept === null ? !isTouched() : kept === "sends");

export function letEnterSend(sends: boolean): void {
  enterSends.value = sends;
  remember("enter", sends ? "sends" : "breaks");
}
