import { expect, it } from "vitest";
import { actionFor } from "./keys";

const pressed = (key: string, ...held: ("ctrl" | "meta" | "alt" | "shift")[]) => ({
  key,
  ctrlKey: held.includes("ctrl"),
  metaKey: held.includes("meta"),
  altKey: held.includes("alt"),
  shiftKey: held.includes("shift"),
  isComposing: false,
});

it("sends, queues, steers and stops by its keys, and by no others", () => {
  const action = (...keys: Parameters<typeof pressed>) => actionFor(pressed(...keys), false, true);
  expect(action("Enter", "ctrl")).toBe("send");
  expect(action("Enter", "meta")).toBe("send");
  expect(action("Enter", "alt")).toBe("queue");
  expect(action("Enter", "ctrl", "shift")).toBe("steer");
  expect(action(".", "ctrl")).toBe("stop");
  expect([action("Enter"), action("Enter", "shift"), action("Escape"), action(".")]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

it("sends by Enter in the box where that is wanted, and by Shift+Enter never", () => {
  expect(actionFor(pressed("Enter"), true, true)).toBe("send");
  expect(actionFor(pressed("Enter", "shift"), true, true)).toBeNull();
  expect(actionFor(pressed("Enter"), true, false)).toBeNull();
  expect(actionFor({ ...pressed("Enter"), isComposing: true }, true, true)).toBeNull();
});
