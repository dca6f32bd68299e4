/** The row of a file, or of some, that opens and closes what stands below it. */

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "./icon";

type Props = { open: Signal<boolean>; children: ComponentChildren };

export function FileRowButton({ open, children }: Props) {
  return (
    <button
      type="button"
      class={open.value ? "f open" : "f"}
      aria-expanded={open.value}
      onClick={() => {
        open.value = !open.value;
      }}
    >
      <Icon name={open.value ? "down" : "right"} size="s" />
      {children}
    </button>
  );
}
