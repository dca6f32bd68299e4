/** What the server says to the editor. */

export type {
  CheckedDraft,
  DraftedJob as DraftJob,
  DraftMistake as Violation,
  EntryExample as Example,
  EntryFile,
  MistakeRepair as Repair,
  RehearsalStarted,
  RehearsedJob as Rehearsal,
  RehearsedTask,
} from "../api/types.gen";
