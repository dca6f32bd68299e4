/** Requests that wait, for tests. */

import type { ApprovalAsked, InboxItem } from "../api/types.gen";

export const request = (
  id: string,
  asked_at: number,
  command: string,
  more: Partial<ApprovalAsked> = {},
): InboxItem => ({
  id,
  session: `s-${id}`,
  asked_at,
  asked: {
    kind: "approval.asked",
    item: id,
    request: `r-${id}`,
    wish: "shell",
    title: `Run ${command}?`,
    description: "",
    severity: "medium",
    subject: { command, arguments: `{"description": "${id}"}` },
    fingerprint: id,
    choices: ["allow-once", "deny"],
    ...more,
  },
});
