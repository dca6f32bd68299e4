/** All keys, in one place. */

import { Dialog } from "./dialog";

const GROUPS: readonly { name: string; keys: readonly (readonly [string[], string])[] }[] = [
  {
    name: "Everywhere",
    keys: [
      [["Ctrl", "K"], "Search or run a command"],
      [["?"], "Show this list"],
      [["G", "S"], "Start"],
      [["G", "J"], "Jobs"],
      [["G", "H"], "History"],
      [["G", "I"], "Inbox"],
      [["G", "M"], "Machines"],
      [["G", "T"], "Settings"],
      [["J"], "Next block, row or item"],
      [["K"], "Previous block, row or item"],
      [["Esc"], "Close a menu or dialog, or leave a text field"],
    ],
  },
  {
    name: "In a session",
    keys: [
      [["Enter"], "Send, or queue while the agent works (Ctrl+Enter if Enter starts a new line)"],
      [["Shift", "Enter"], "New line"],
      [["/"], "Commands, at the start of a message"],
      [["@"], "Files, after a space"],
      [["Ctrl", "Shift", "Enter"], "Steer now, while the agent works"],
      [["Ctrl", "."], "Stop the turn"],
      [["O"], "Open or close a block or a call"],
      [["C"], "Copy a block"],
    ],
  },
  {
    name: "On a request, while it has the focus",
    keys: [
      [["A"], "Allow once, or continue"],
      [["D"], "Deny, or stop"],
      [["W"], "Always allow: 1 to 4 selects what, Enter confirms"],
      [["X"], "Select or deselect the next of identical requests"],
      [["1"], "Select an answer, 1 to 9"],
    ],
  },
  {
    name: "On a run",
    keys: [
      [["R"], "Report; ← and → switch tabs"],
      [["C"], "Compare with another run"],
      [["/"], "Search the list of tasks"],
    ],
  },
  {
    name: "On the timeline's slider",
    keys: [
      [["←"], "Previous event; → next event"],
      [["Shift", "←"], "10 seconds back; → 10 seconds forward"],
      [["Home"], "Go to the start; End goes to the end or to live"],
      [["Space"], "Play or pause"],
      [["]"], "Faster; [ slower"],
      [["Esc"], "Back to live or to the end"],
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
      [["↑"], "Follow the arrows; ← and → go to siblings"],
      [["+"], "Zoom in; − zooms out, 0 fits the chart"],
    ],
  },
  {
    name: "On a divider between two panels",
    keys: [
      [["←"], "Move it; hold Shift to move further"],
      [["Home"], "To the minimum; End to the maximum"],
      [["Enter"], "Reset to the default size"],
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
      <p class="hint">Keys without a modifier do not work while you type in a text field.</p>
      <button type="button" class="btn" data-first onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}
