/** What the rows of a conversation share: what people were asked, all blocks, and where a row stands. */

import { createContext } from "preact";
import type { Block } from "../../state/types";
import type { Asks } from "./pieces";

export type Around = { blocks: ReadonlyMap<string, Block>; asks: Asks };

export const AroundCalls = createContext<Around>({ blocks: new Map(), asks: new Map() });

/** Whether a row is one of another agent's. */
export const Inner = createContext(false);
