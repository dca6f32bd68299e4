/** What the server says to the editor. */

export type {
  CheckedDraft,
  DraftedJob as DraftJob,
  DraftMistake as Violation,
  EntryExample as Example,
  EntryFile,
  MistakeRepair as Repair,
  Rehearsal,
  RehearsalStarted,
  RehearsedTask,
} from "../api/types.gen";
