/** What parts of a drawing are to who listens: SVG has no elements of its own for it. */

export const LIST = { role: "list" } as const;
export const GROUP = { role: "group" } as const;
export const UNSAID = { "aria-hidden": "true" } as const;

export const item = (place: number, places: number) =>
  ({ role: "listitem", "aria-setsize": places, "aria-posinset": place }) as const;

type Button = { label?: string; pressed: boolean; focusable: boolean };

export const button = ({ label, pressed, focusable }: Button) =>
  ({
    role: "button",
    tabindex: focusable ? 0 : -1, // SVG knows it in small letters only
    "aria-pressed": pressed,
    ...(label === undefined ? {} : { "aria-label": label }),
  }) as const;

/** Pressed by the mouse, by Enter and by the space bar. */
export const pressing = (press: () => void) => ({
  onClick: press,
  onKeyDown: (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press();
  },
});
