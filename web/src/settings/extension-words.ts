/** What the page says of an extension, and where it asks about one. */

import type { ExtensionDetails, ListedExtension } from "../api/types.gen";
import type { IconName } from "../parts/icon";
import { visible } from "../words";

export const PATH = "/api/v1/extensions";

export const LANGUAGES: Record<ListedExtension["language"], string> = {
  python: "Python",
  javascript: "JavaScript",
};

type State = { look: string; icon: IconName; word: string };

export const STATES: Record<ListedExtension["state"], State> = {
  ready: { look: "st ok", icon: "tick", word: "Trusted" },
  untrusted: { look: "st you", icon: "hand", word: "Not trusted" },
  changed: { look: "st you", icon: "hand", word: "Changed" },
  disabled: { look: "st canceled", icon: "slashed", word: "Disabled" },
  shadowed: { look: "st canceled", icon: "slashed", word: "Shadowed" },
  failed: { look: "st failed", icon: "cross", word: "Failed" },
};

export const addressOf = ({ scope, name }: Pick<ListedExtension, "scope" | "name">): string =>
  `${PATH}/${scope}/${encodeURIComponent(name)}`;

/** The address for the project in this folder; without one, for the server's own. */
export const whereOf = (address: string, folder: string): string =>
  folder === "" ? address : `${address}?${new URLSearchParams({ cwd: folder })}`;

/** Whether there is something to be read and trusted: what cannot be read has no digest. */
export const canBeTrusted = ({
  state,
  digest,
}: Pick<ListedExtension, "state" | "digest">): boolean =>
  digest !== "" && (state === "untrusted" || state === "changed");

/** Why it cannot be trusted here; null where all of it can be read on the page. */
export const whyNotHere = ({
  name,
  path,
  digest,
  left_out,
}: Pick<ExtensionDetails, "name" | "path" | "digest" | "left_out">): string | null =>
  left_out.length === 0
    ? null
    : `${visible(name)} cannot be trusted here, because not all of it can be shown: ${left_out
        .map(visible)
        .join(
          ", ",
        )}. Read it in its folder, then run: airboss trust ${visible(path)} --digest ${digest}`;
