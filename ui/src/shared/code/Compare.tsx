import { unifiedMergeView } from "@codemirror/merge";
import { shownText } from "../../document/history";
import { Code } from "./Code";

export function Compare(props: { before: string; after: string; label: string; testid: string }) {
  const { before, after, label, testid } = props;
  const changes = unifiedMergeView({
    original: shownText(before),
    mergeControls: false,
    collapseUnchanged: { margin: 2, minSize: 4 },
  });
  return <Code key={before} language="json" readOnly label={label} testid={testid} text={after} extensions={changes} />;
}
