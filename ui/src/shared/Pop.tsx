// A small sheet beside the button that opens it. The browser closes it at Escape and when something else is pressed.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "./Button";
import { cx, styled } from "./cx";
import css from "./pop.module.css";

export function Pop(props: {
  open: boolean;
  onOpen: (open: boolean) => void;
  opener?: ButtonProps;
  left?: boolean;
  label?: string;
  children: ReactNode;
}) {
  const { open, onOpen, opener } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    box.current?.togglePopover(open);
  }, [open]);
  return (
    <span className={css.popHost}>
      {opener ? <Button popoverTarget={id} aria-expanded={open} {...opener} /> : null}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it and does nothing else on the page */}
      <div
        id={id}
        ref={box}
        popover="auto"
        className={open || shown ? cx(css.pop, props.left && css.left) : undefined}
        {...(props.label ? { role: "group", "aria-label": props.label } : {})}
        onKeyDown={(event) => event.key === "Escape" && event.stopPropagation()}
        onToggle={(event) => {
          const now = event.newState === "open";
          setShown(now);
          onOpen(now);
        }}
      >
        {/* While it closes its content stays, so that the browser can give the focus back. */}
        {open || shown ? props.children : null}
      </div>
    </span>
  );
}

/** The buttons below what a sheet asks. */
export const Foot = styled("div", css.foot);
