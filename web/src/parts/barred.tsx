/** A sentence where something cannot be done by this role; nothing where it can. */

import { mayNot, type Role } from "../api/role";
import { Icon } from "./icon";

export function Barred({ needs }: { needs: Role }) {
  const why = mayNot(needs);
  if (why === null) return null;
  return (
    <p class="small muted barred" role="note">
      <Icon name="info" size="s" /> {why}
    </p>
  );
}
