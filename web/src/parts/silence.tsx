/** That a machine is not heard, and what becomes of its work. Nothing failed: no red, and no button. */

import { visible } from "../words";
import { Icon } from "./icon";

type Props = {
  name: string;
  /** Both count: only that it is not heard is said aloud, once, and not every second. */
  head: string;
  rest: string;
};

export function SilenceStrip({ name, head, rest }: Props) {
  return (
    <div class="strip silent">
      <span class="vh" role="status">
        {visible(name)} is not heard.
      </span>
      <Icon name="broken" />
      <span class="grow">
        <b>{head}</b> {rest} Nothing is lost, and you need not do anything.
      </span>
      <a class="small nowrap" href="/docs/many-machines.html#what-happens-when-something-breaks">
        What happens now
      </a>
    </div>
  );
}
