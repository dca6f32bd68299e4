/** How much could be lost: three steps, a word, and a sentence that says what. */

import type { ApprovalAsked } from "../api/types.gen";
import { visible } from "../words";

type Severity = ApprovalAsked["severity"];

const LOOKS: Record<Severity, { look: string; words: string }> = {
  low: { look: "low", words: "Low risk" },
  medium: { look: "med", words: "Medium risk" },
  high: { look: "high", words: "High risk" },
};

/** Without a reason it is not shown: an earlier version gave none. */
export function RiskLine({
  severity,
  risk,
}: {
  severity: Severity;
  risk: string | null | undefined;
}) {
  if (risk == null || risk === "") return null;
  const { look, words } = LOOKS[severity];
  return (
    <p class={`risk ${look}`}>
      <svg class="rk" viewBox="0 0 16 12" aria-hidden="true">
        <rect x="0" y="8" width="4" height="4" rx="1" />
        <rect x="6" y="4" width="4" height="8" rx="1" />
        <rect x="12" y="0" width="4" height="12" rx="1" />
      </svg>
      <b>{words}</b>
      <span>{visible(risk)}</span>
    </p>
  );
}
