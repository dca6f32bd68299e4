/** How many items wait for a person, for the top bar and the titles. */

import { signal } from "@preact/signals";

export const waiting = signal(0);
