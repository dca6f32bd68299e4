/** A new key or token in the place of one that is kept: it is written, never read. */

import { useId, useState } from "preact/hooks";
import { visible } from "../words";

type Props = {
  what: "key" | "token";
  /** Whose it is. */
  name: string;
  onSave: (secret: string) => Promise<void>;
  onLeave: () => void;
};

export function NewSecret({ what, name, onSave, onLeave }: Props) {
  const id = useId();
  const [secret, write] = useState("");
  return (
    <form
      class="row wrap"
      aria-label={`New ${what} of ${visible(name)}`}
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void onSave(secret.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onLeave();
      }}
    >
      <label for={id} class="vh">
        New {what}
      </label>
      <input
        id={id}
        class="input mono grow"
        type="password"
        autocomplete="off"
        required
        placeholder={`New ${what}`}
        value={secret}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <button type="submit" class="btn primary sm">
        Save and test
      </button>
      <button type="button" class="btn ghost sm" onClick={onLeave}>
        Cancel
      </button>
    </form>
  );
}
