// A sheet over the page. The browser keeps the focus inside and gives it back.
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { cx } from "./cx";
import css from "./dialog.module.css";

export function Dialog(props: { label: string; onClose: () => void; children: ReactNode; className?: string }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      className={cx(css.sheet, props.className)}
      aria-label={props.label}
      ref={box}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // The owner decides; a browser closes the sheet at the second Escape.
        event.preventDefault();
        event.stopPropagation();
        props.onClose();
      }}
      onMouseDown={(event) => {
        const { left, right, top, bottom } = event.currentTarget.getBoundingClientRect();
        const { clientX: x, clientY: y } = event;
        if (event.target === box.current && (x < left || x > right || y < top || y > bottom)) props.onClose();
      }}
    >
      {props.children}
    </dialog>
  );
}
