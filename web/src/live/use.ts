/** Something watched for as long as a component is there. */

import { useEffect, useMemo } from "preact/hooks";
import { watchList } from "./asked";
import type { Watched } from "./watched";

/** Made anew, and the old one given up, when the key changes. */
export function useWatched<One extends Pick<Watched<unknown>, "stop">>(
  key: string,
  make: (key: string) => One,
): One {
  const watched = useMemo(() => make(key), [key, make]);
  useEffect(() => watched.stop, [watched]);
  return watched;
}

/** A list of the server's, always current. */
export const useList = <Body>(path: string): Watched<Body | null> =>
  useWatched(path, watchList<Body>);
