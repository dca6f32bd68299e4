/** Who works by keys goes on where they were, also where what they pressed has gone. */

const USABLE = "button:not(:disabled), a[href], input:not(:disabled)";

/** Notes what has the focus; what it answers gives it to a neighbour, if it was lost by then. */
export function holdFocus(): () => void {
  const held = document.activeElement;
  const row = held?.closest("li, tr");
  const near = [
    row,
    row?.nextElementSibling,
    row?.previousElementSibling,
    held?.closest("section"),
  ];
  return () => {
    if (document.activeElement !== document.body || held === document.body) return;
    const there = near.filter((place) => place?.isConnected);
    const next = there.map((place) => place?.querySelector<HTMLElement>(USABLE));
    next.find((one) => one != null)?.focus();
  };
}
