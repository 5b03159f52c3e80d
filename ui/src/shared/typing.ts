/** Letters do nothing while somebody types or a dialog is open. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (document.querySelector("dialog[open]")) return true;
  if (target instanceof HTMLInputElement && ["range", "radio", "checkbox"].includes(target.type)) return false;
  return Boolean(target && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)));
}
