/** What this device remembers. A browser that forbids it remembers nothing, and nothing breaks. */

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`airboss.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`airboss.${name}`);
    else localStorage.setItem(`airboss.${name}`, value);
  } catch {
    // Private windows and full disks: the page works, it only forgets.
  }
}
