/** A dialog of the browser's own that is in front of all else, until it is taken away. */

/** Opens it; what it answers closes it, and gives the focus back to whatever had it. */
export function openModal(dialog: HTMLDialogElement): () => void {
  const before = document.activeElement;
  dialog.showModal();
  return () => {
    dialog.close(); // while it is open, nothing behind it can be focused
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
}
