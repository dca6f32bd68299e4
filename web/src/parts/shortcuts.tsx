/** All keys, in one place. */

import { Dialog } from "./dialog";

const GROUPS: readonly { name: string; keys: readonly (readonly [string[], string])[] }[] = [
  {
    name: "Everywhere",
    keys: [
      [["Ctrl", "K"], "Search, or run a command"],
      [["?"], "This list"],
      [["G", "S"], "Start"],
      [["G", "J"], "Jobs"],
      [["G", "H"], "History"],
      [["G", "I"], "Inbox"],
      [["G", "T"], "Settings"],
      [["J"], "Next block, row or item"],
      [["K"], "Previous block, row or item"],
      [["Esc"], "Close what floats, else leave the field"],
    ],
  },
  {
    name: "In a session",
    keys: [
      [["Enter"], "Send; while the agent works, queue (Ctrl+Enter where Enter begins a line)"],
      [["Shift", "Enter"], "A new line"],
      [["/"], "Commands, at the beginning of a request"],
      [["@"], "Files, behind a space"],
      [["Ctrl", "Shift", "Enter"], "Steer now, while the agent works"],
      [["Ctrl", "."], "Stop the turn"],
      [["O"], "Open or close a block or a call"],
      [["C"], "Copy it"],
    ],
  },
  {
    name: "On what waits for you, while it has focus",
    keys: [
      [["A"], "Allow once, or go on"],
      [["D"], "Deny, or stop"],
      [["W"], "Always allow: 1 to 4 chooses what, Enter confirms"],
      [["X"], "Of equal requests, choose the next one or leave it out"],
      [["1"], "Choose an answer, 1 to 9"],
    ],
  },
  {
    name: "On a run",
    keys: [
      [["R"], "Its report; ← and → go along the tabs"],
      [["C"], "Compare it with another run"],
      [["/"], "Find among the tasks of a wide part"],
    ],
  },
  {
    name: "On the timeline's slider",
    keys: [
      [["←"], "The event before; → the one behind it"],
      [["Shift", "←"], "10 seconds back; with → on"],
      [["Home"], "The beginning; End is the end, or live"],
      [["Space"], "Play, or pause"],
      [["]"], "Faster; [ is slower"],
      [["Esc"], "Back to live, or to the end"],
    ],
  },
  {
    name: "In the entry editor",
    keys: [
      [["Ctrl", "Space"], "What can be written here"],
      [["F8"], "The next problem"],
      [["Ctrl", "Enter"], "Rehearse the job"],
      [["Ctrl", "S"], "Save"],
      [["Ctrl", "F"], "Find and replace in the text"],
      [["Esc", "Tab"], "Leave the text with the keyboard: Tab alone indents"],
    ],
  },
  {
    name: "In a chart",
    keys: [
      [["↑"], "Along the arrows; left and right to siblings"],
      [["+"], "Zoom in; − zooms out, 0 fits"],
    ],
  },
  {
    name: "On a bar between two parts",
    keys: [
      [["←"], "Move it; with Shift further"],
      [["Home"], "To its limits, with End"],
      [["Enter"], "Back to the usual size"],
    ],
  },
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div class="shortcuts">
        {GROUPS.map(({ name, keys }) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([pressed, does]) => (
                <div key={does}>
                  <dt>
                    {pressed.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="hint">No key without a modifier works while you write in a field.</p>
      <button type="button" class="btn" data-first onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
