import { expect, it } from "vitest";
import { actionFor } from "./keys";

const pressed = (key: string, ...held: ("ctrl" | "meta" | "alt" | "shift")[]) => ({
  key,
  ctrlKey: held.includes("ctrl"),
  metaKey: held.includes("meta"),
  altKey: held.includes("alt"),
  shiftKey: held.includes("shift"),
});

it("sends, queues, steers and stops by its keys, and by no others", () => {
  expect(actionFor(pressed("Enter", "ctrl"))).toBe("send");
  expect(actionFor(pressed("Enter", "meta"))).toBe("send");
  expect(actionFor(pressed("Enter", "alt"))).toBe("queue");
  expect(actionFor(pressed("Enter", "ctrl", "shift"))).toBe("steer");
  expect(actionFor(pressed(".", "ctrl"))).toBe("stop");
  const others = [pressed("Enter"), pressed("Enter", "shift"), pressed("Escape"), pressed(".")];
  expect(others.map(actionFor)).toEqual([null, null, null, null]);
});
