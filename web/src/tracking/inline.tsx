/** A line that somebody wrote, with code in it as code. */

import { visible } from "../words";

export function Inline({ text }: { text: string }) {
  const parts = visible(text).split("`");
  // An odd number of marks is none of ours.
  if (parts.length % 2 === 0) return <>{visible(text)}</>;
  return <>{parts.map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}</>;
}
