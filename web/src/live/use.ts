/** Something watched for as long as a component is there. */

import { useEffect, useMemo } from "preact/hooks";
import { watchList } from "./list";
import type { Watched } from "./watched";

/** Made anew, and the old one given up, when the key changes. */
export function useWatched<State>(key: string, make: (key: string) => Watched<State>) {
  const watched = useMemo(() => make(key), [key, make]);
  useEffect(() => watched.stop, [watched]);
  return watched;
}

/** A list of the server's, always current. */
export const useList = <Body>(path: string): Watched<Body | null> =>
  useWatched<Body | null>(path, watchList);
