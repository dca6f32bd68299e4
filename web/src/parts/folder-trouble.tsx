/** Why a folder cannot be worked in, and which one was probably meant. */

import { type Answer, whyNot } from "../api/client";
import { visible } from "../words";
import { Note } from "./note";

type Failed = Exclude<Answer, { kind: "ok" }>;

export const isAboutFolder = (trouble: Failed): boolean =>
  trouble.kind === "failed" && (trouble.code ?? "").startsWith("working_directory_");

type Props = { trouble: Failed; onTake: (folder: string) => void };

export function FolderTrouble({ trouble, onTake }: Props) {
  const missing = trouble.kind === "failed" && trouble.code === "working_directory_missing";
  const meant = trouble.kind === "failed" ? trouble.suggestion : undefined;
  return (
    <Note
      kind="err"
      title={missing ? "This folder does not exist." : "Agents cannot work in this folder."}
    >
      {meant === undefined ? (
        visible(whyNot(trouble))
      ) : (
        <>
          Did you mean{" "}
          <button type="button" class="link mono" onClick={() => onTake(meant)}>
            {visible(meant)}
          </button>
          ?
        </>
      )}
    </Note>
  );
}
