/** The keys of the request part. */

type Pressed = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "isComposing"
>;

export type Action = "send" | "queue" | "steer" | "stop";

/** `inBox`: in the box where a request is written. `sends`: what Enter alone does there. */
export function actionFor(event: Pressed, inBox: boolean, sends: boolean): Action | null {
  const control = event.ctrlKey || event.metaKey;
  if (event.key === "Enter") {
    if (event.isComposing || (control && event.altKey)) return null; // it ends a word of an input method
    if (control) return event.shiftKey ? "steer" : "send";
    if (event.altKey) return "queue";
    return inBox && sends && !event.shiftKey ? "send" : null;
  }
  return event.key === "." && control && !event.altKey ? "stop" : null;
}
