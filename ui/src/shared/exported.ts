// Whether the page is an exported file: one cast in one file, to be looked at without a server.
let exported = false;

export function isExported(): boolean {
  return exported;
}

/** Said once, before anything is drawn. */
export function setExported(): void {
  exported = true;
}
