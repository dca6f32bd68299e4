/** What the rows of a conversation share: what people were asked, all blocks, and where a row stands. */

import { createContext } from "preact";
import type { WaitingCall } from "../../api/types.gen";
import type { Block } from "../../state/types";
import type { Asks } from "./pieces";

export type Around = { blocks: ReadonlyMap<string, Block>; asks: Asks };

export const AroundCalls = createContext<Around>({ blocks: new Map(), asks: new Map() });

/** The calls that wait for what another call asked a person. */
export const WaitingCalls = createContext<readonly WaitingCall[]>([]);

/** Whether a row is one of another agent's. */
export const Inner = createContext(false);
