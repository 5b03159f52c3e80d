// A text in the page's text editor. What is typed goes to `onType`; the text that comes back is the truth.
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useLayoutEffect, useRef } from "react";
import { difference, shownText } from "../../document/history";
import { type Setup, setup } from "./setup";

const fromOutside = Annotation.define<boolean>();

export interface CodeProps extends Setup {
  text: string;
  className?: string | undefined;
  onType?: (text: string) => void;
  /** Read once, when the editor opens. */
  extensions?: Extension;
  onView?: (view: EditorView | null) => void;
}

export function Code(props: CodeProps) {
  const { label, language, readOnly } = props;
  const text = shownText(props.text);
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef(props);
  now.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text comes in below, and acts are read when they are needed
  useLayoutEffect(() => {
    const own = now.current;
    const made = new EditorView({
      parent: box.current ?? document.body,
      state: EditorState.create({
        doc: shownText(own.text),
        extensions: [
          own.extensions ?? [],
          setup({
            ...own,
            onUndo: own.onUndo && (() => now.current.onUndo?.()),
            onRedo: () => now.current.onRedo?.(),
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.annotation(fromOutside)))
              now.current.onType?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    own.onView?.(made);
    return () => {
      own.onView?.(null);
      made.destroy();
    };
  }, [label, language, readOnly]);
  useLayoutEffect(() => {
    const splice = view.current && difference(view.current.state.doc.toString(), text);
    if (splice)
      view.current?.dispatch({
        changes: { from: splice.at, to: splice.at + splice.del.length, insert: splice.ins },
        annotations: fromOutside.of(true),
      });
  });
  return <div className={props.className} ref={box} />;
}
