/** The icons, drawn with the text's colour. They never stand without a word. */

import type { ComponentChildren } from "preact";

const SHAPES = {
  clock: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.5V8l2.4 1.6" />
    </>
  ),
  play: <path class="f" d="M4.5 2.8 13 8l-8.5 5.2z" />,
  hand: (
    <path d="M5 8.6V4.2a1 1 0 0 1 2 0V7M7 7V3a1 1 0 0 1 2 0v4M9 7V3.8a1 1 0 0 1 2 0V8M11 8V5.6a1 1 0 0 1 2 0V10c0 2.6-1.8 4.2-4.2 4.2-2 0-3-.9-4-2.5L3.1 9.3a1 1 0 0 1 1.7-1.1" />
  ),
  turn: <path d="M3.2 8a5 5 0 1 0 1.5-3.6M3 2.2v3.2h3.2" />,
  tick: <path d="M3 8.5 6.5 12 13 4.5" />,
  cross: <path d="M4 4l8 8M12 4l-8 8" />,
  slashed: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M4 12 12 4" />
    </>
  ),
  broken: (
    <path d="M6.6 9.6 5 11.2a2.4 2.4 0 0 1-3.4-3.4L3.8 5.6M9.4 6.4 11 4.8a2.4 2.4 0 0 1 3.4 3.4l-2.2 2.2M5.6 2.2l.4 1.6M10 12.2l.4 1.6" />
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 7.4v3.4M8 5h.01" />
    </>
  ),
  warning: <path d="M8 2.2 14.4 13.4H1.6zM8 6.4v3.2M8 11.6h.01" />,
  terminal: (
    <>
      <rect x="1.5" y="2.5" width="13" height="11" rx="1.5" />
      <path d="m4.4 6 2.2 2-2.2 2M8.4 10.4h3" />
    </>
  ),
} satisfies Record<string, ComponentChildren>;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, size = "" }: { name: IconName; size?: "" | "s" | "big" }) {
  return (
    <svg class={`i ${size}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}
