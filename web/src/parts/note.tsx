/** A sentence that stands out, with the reason and the next step. */

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon";

type Kind = "info" | "err" | "stale" | "you";

const ICONS: Record<Kind, IconName> = {
  info: "info",
  err: "warning",
  stale: "broken",
  you: "hand",
};

type Props = { kind: Kind; title: ComponentChildren; children?: ComponentChildren };

export function Note({ kind, title, children }: Props) {
  return (
    <div class={`note ${kind}`} role={kind === "info" ? undefined : "alert"}>
      <Icon name={ICONS[kind]} />
      <div>
        <b>{title}</b>
        <div class="muted">{children}</div>
      </div>
    </div>
  );
}
