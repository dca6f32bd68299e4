/** The keys of the request part. */

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export function actionFor(event: Pressed): "send" | "queue" | "steer" | "stop" | null {
  const control = event.ctrlKey || event.metaKey;
  if (event.key === "Enter") {
    if (control && event.altKey) return null;
    if (control) return event.shiftKey ? "steer" : "send";
    return event.altKey ? "queue" : null;
  }
  return event.key === "." && control && !event.altKey ? "stop" : null;
}
