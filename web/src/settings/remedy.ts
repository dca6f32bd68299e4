/** A remedy's words, and the commands in it that one can copy. Pure. */

export type Piece = { kind: "words" | "command"; text: string };

export const piecesOf = (remedy: string): Piece[] =>
  remedy
    .split(/`([^`]+)`/)
    .map(
      (text, place): Piece => ({
        kind: place % 2 === 1 ? "command" : "words",
        text: text.trim().replace(/^[,;.]\s*/, ""),
      }),
    )
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
