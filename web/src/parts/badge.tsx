/** How fresh a page is that follows the live feed. */

import { fresh, tryNow } from "../live/feed";
import { FreshnessBadge } from "./freshness";

export const LiveBadge = () => <FreshnessBadge fresh={fresh.value} onTry={tryNow} />;
