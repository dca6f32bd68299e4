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
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.3 10.3 3.4 3.4" />
    </>
  ),
  moon: <path d="M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="3" />
      <path d="M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />
    </>
  ),
  system: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path class="f" d="M8 2a6 6 0 0 1 0 12z" />
    </>
  ),
  plan: <path d="m2.3 4 1 1 1.8-2M2.3 10.5l1 1 1.8-2M8 4.3h6M8 10.8h6" />,
  question: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M6.3 6.4a1.7 1.7 0 1 1 2.4 1.5c-.5.3-.7.6-.7 1.2M8 11.2h.01" />
    </>
  ),
  inbox: <path d="M2.5 9.5 4.5 3h7l2 6.5v3.5h-11zM2.5 9.5h3.3l.8 1.6h2.8l.8-1.6h3.3" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  down: <path d="m3.5 6 4.5 4.5L12.5 6" />,
  up: <path d="m3.5 10 4.5-4.5 4.5 4.5" />,
  right: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  download: <path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10" />,
  trash: <path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5" />,
  minus: <path d="M3 8h10" />,
  plus: <path d="M8 3v10M3 8h10" />,
  job: (
    <>
      <rect x="5" y="1.5" width="6" height="4" rx=".5" />
      <rect x="1" y="10.5" width="6" height="4" rx=".5" />
      <rect x="9" y="10.5" width="6" height="4" rx=".5" />
      <path d="M8 5.5V8M4 10.5V8h8v2.5" />
    </>
  ),
  shield: <path d="M8 2 13 4v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4z" />,
  chat: <path d="M2.5 3h11v7.5H7.5L4.5 13v-2.5h-2z" />,
  parted: <path d="M8 14V9M8 9 4 5V2M8 9l4-4V2" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" />,
  file: <path d="M4 2h5l3 3v9H4zM9 2v3h3" />,
  clip: (
    <path d="m12.5 7.5-4.8 4.8a3 3 0 0 1-4.2-4.2l5-5a2 2 0 0 1 2.8 2.8l-4.7 4.7a1 1 0 0 1-1.4-1.4l4.3-4.3" />
  ),
  grip: <path d="M6 4h.01M6 8h.01M6 12h.01M10 4h.01M10 8h.01M10 12h.01" />,
  steer: <path d="M3 13V9a3 3 0 0 1 3-3h7M10 3l3 3-3 3" />,
  lock: (
    <>
      <rect x="3.5" y="7.2" width="9" height="6" rx="1" />
      <path d="M5.5 7.2V5a2.5 2.5 0 0 1 5 0v2.2" />
    </>
  ),
  pencil: <path d="M10.5 3 13 5.5 6 12.5l-3 .5.5-3z" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1" />
      <path d="M10.5 3v-.5h-8v8H3" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="5.4" r="2.6" />
      <path d="M3 13.5c.5-2.7 2.4-4 5-4s4.5 1.3 5 4" />
    </>
  ),
  list: <path d="m2.3 4 1 1 1.8-2M2.3 10.5l1 1 1.8-2M8 4.3h6M8 10.8h6" />,
  plug: <path d="M5.5 2v3.5M10.5 2v3.5M3.8 5.5h8.4V8a4.2 4.2 0 0 1-8.4 0zM8 12.2V14" />,
  fork: (
    <>
      <circle cx="4.5" cy="3.5" r="1.6" />
      <circle cx="11.5" cy="3.5" r="1.6" />
      <circle cx="8" cy="12.5" r="1.6" />
      <path d="M4.500 5.100V6.500L8 8.500l3.500-2V5.100M8 8.500v2.400" />
    </>
  ),
  pin: <path d="M6 2.5h4l-.5 4 2 2.5h-7l2-2.5zM8 9v4.5" />,
  machine: (
    <>
      <rect x="2" y="2.500" width="12" height="4.500" rx="1" />
      <rect x="2" y="9" width="12" height="4.500" rx="1" />
      <path d="M4.500 4.800h.01M4.500 11.300h.01M8 4.800h3.500M8 11.300h3.500" />
    </>
  ),
  circle: <circle cx="8" cy="8" r="5" />,
  gear: (
    <>
      <circle cx="8" cy="8" r="2.2" />
      <path d="M8 1.8v1.8M8 12.4v1.8M1.8 8h1.8M12.4 8h1.8M3.6 3.6l1.3 1.3M11.1 11.1l1.3 1.3M3.6 12.4l1.3-1.3M11.1 4.9l1.3-1.3" />
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
