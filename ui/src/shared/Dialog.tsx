// A sheet over the page: it takes the focus, keeps it, and gives it back.
import { type ReactNode, useEffect, useRef } from "react";

export function Dialog(props: { label: string; onClose: () => void; children: ReactNode; className?: string }) {
  const box = useRef<HTMLDivElement>(null);
  const close = useRef(props.onClose);
  close.current = props.onClose;
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const inside = () =>
      Array.from(
        box.current?.querySelectorAll<HTMLElement>(
          "a[href], button:not(:disabled), input, select, textarea, [tabindex='0']",
        ) ?? [],
      );
    const wanted = box.current?.querySelector<HTMLElement>("[data-autofocus]") ?? inside()[0];
    wanted?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        close.current();
      }
      if (event.key !== "Tab") return;
      const all = inside();
      const [first, last] = [all[0], all.at(-1)];
      const now = document.activeElement;
      if (event.shiftKey && now === first) {
        event.preventDefault();
        last?.focus();
      } else if (!event.shiftKey && (now === last || !box.current?.contains(now))) {
        event.preventDefault();
        first?.focus();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      before?.focus?.();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pressing beside the sheet is a short cut for Escape
    <div className="scrim" onMouseDown={(event) => event.target === event.currentTarget && props.onClose()}>
      <div
        className={`sheet ${props.className ?? ""}`}
        role="dialog"
        aria-modal="true"
        aria-label={props.label}
        ref={box}
      >
        {props.children}
      </div>
    </div>
  );
}
