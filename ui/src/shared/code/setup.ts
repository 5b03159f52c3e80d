// The page's text editor: its look from the tokens, its languages, and what every use of it has.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import {
  bracketMatching,
  codeFolding,
  defineLanguageFacet,
  foldGutter,
  foldInside,
  foldKeymap,
  foldNodeProp,
  HighlightStyle,
  indentNodeProp,
  indentOnInput,
  Language,
  LRLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { styleTags, tags } from "@lezer/highlight";
import { parser as markdown } from "@lezer/markdown";
import { parser } from "./jsonc.grammar";

const jsonc = LRLanguage.define({
  name: "jsonc",
  parser: parser.configure({
    props: [
      styleTags({
        PropertyName: tags.propertyName,
        "True False Null Number": tags.atom,
        String: tags.string,
        "LineComment BlockComment": tags.comment,
      }),
      foldNodeProp.add({ "Object Array": foldInside }),
      indentNodeProp.add({
        "Object Array": (context) => context.baseIndent + (/^\s*[}\]]/.test(context.textAfter) ? 0 : context.unit),
      }),
    ],
  }),
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, indentOnInput: /^\s*[}\]]$/ },
});
const languages = {
  json: jsonc,
  markdown: new Language(defineLanguageFacet(), markdown, [], "markdown"),
  text: [],
};
export type CodeLanguage = keyof typeof languages;

// Colour means state, so words differ by weight and slant.
const ink = HighlightStyle.define([
  { tag: [tags.propertyName, tags.heading, tags.strong], color: "var(--ink-1)", fontWeight: "600" },
  { tag: [tags.string, tags.atom], color: "var(--ink-2)" },
  { tag: [tags.comment, tags.quote], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.processingInstruction, tags.url], color: "var(--ink-3)" },
]);
const soft = "color-mix(in srgb, var(--ink-1) 9%, transparent)";
const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink-1)", fontSize: "var(--mono-md)" },
  "&.cm-focused": { outline: "var(--focus-width) solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", fontVariantLigatures: "none", lineHeight: "var(--lead-mono)" },
  ".cm-content": { caretColor: "var(--ink-1)" },
  ".cm-cursor": { borderLeftColor: "var(--ink-1)" },
  ".cm-gutters": { border: "0", background: "none", color: "var(--ink-3)", fontSize: "var(--mono-sm)" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--ground-3)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--ink-1) 20%, transparent)",
  },
  ".cm-selectionMatch, &.cm-focused .cm-matchingBracket": { background: soft },
  ".cm-searchMatch": { background: "var(--needs-you-soft)", outline: "1px solid var(--needs-you-line)" },
  ".cm-searchMatch-selected": { background: "var(--needs-you-line)" },
  ".cm-foldPlaceholder": { border: "0", background: "var(--ground-3)", color: "var(--ink-2)" },
  ".cm-specialChar": { background: "var(--needs-you-soft)", color: "var(--needs-you-ink)" },
  ".cm-panels": { background: "var(--ground-2)", color: "var(--ink-1)", font: "var(--text-sm) var(--font-ui)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line-1)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line-1)" },
  ".cm-textfield": {
    border: "1px solid var(--line-2)",
    borderRadius: "var(--radius-1)",
    background: "var(--ground-1)",
  },
  ".cm-button": { border: "1px solid var(--line-2)", background: "var(--ground-1)" },
  ".cm-tooltip": {
    maxWidth: "420px",
    border: "0",
    borderRadius: "var(--radius-2)",
    background: "var(--ground-1)",
    color: "var(--ink-1)",
    boxShadow: "var(--shadow-1)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", maxWidth: "420px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--ground-3)",
    color: "var(--ink-1)",
  },
  ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal", fontFamily: "var(--font-ui)" },
  // The library draws marks with images in its styles, which the policy does not allow.
  ".cm-lintRange-error, .cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--needs-you-fill)",
    textDecorationSkipInk: "none",
  },
  ".cm-lintRange-error": { textDecorationColor: "var(--failed-fill)" },
  ".cm-lint-marker-error, .cm-lint-marker-warning": { content: "normal", font: "700 11px / 14px var(--font-ui)" },
  ".cm-lint-marker-error": { color: "var(--failed-ink)", "&:before": { content: '"✕"' } },
  ".cm-lint-marker-warning": { color: "var(--needs-you-ink)", "&:before": { content: '"!"' } },
  ".cm-diagnostic-error": { borderLeftColor: "var(--failed-fill)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--needs-you-fill)" },
  ".cm-changedLine, .cm-insertedLine": { background: `${soft} !important` },
  ".cm-changedText": { background: "none !important", boxShadow: "0 1px 0 var(--ink-2)" },
  ".cm-deletedChunk": { background: "none", color: "var(--ink-3)" },
  ".cm-deletedChunk .cm-deletedLine, .cm-deletedChunk .cm-deletedText": {
    background: "none",
    textDecoration: "line-through",
  },
  ".cm-changeGutter": { width: "3px" },
  ".cm-changedLineGutter": { background: "var(--ink-2) !important" },
  ".cm-deletedLineGutter": { background: "var(--line-3) !important" },
  ".cm-collapsedLines": { background: "var(--ground-3)", color: "var(--ink-2)", paddingBlock: "2px" },
});

/** The policy of the page allows styles from files, and those with the nonce that the server made for this answer. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

export interface Setup {
  language: CodeLanguage;
  label: string;
  testid?: string | undefined;
  readOnly?: boolean | undefined;
  /** The document keeps its own history: these take the place of the editor's undo. */
  onUndo?: (() => void) | undefined;
  onRedo?: (() => void) | undefined;
}

export function setup({ language, label, testid, readOnly, onUndo, onRedo }: Setup): Extension {
  const act = (run: (() => void) | undefined) => ({
    preventDefault: true,
    stopPropagation: true,
    run: () => {
      run?.();
      return true;
    },
  });
  return [
    EditorView.cspNonce.of(nonce),
    look,
    syntaxHighlighting(ink),
    languages[language],
    language === "text" ? [] : [codeFolding(), indentOnInput(), bracketMatching()],
    language === "json" ? [lineNumbers(), foldGutter(), highlightActiveLineGutter()] : EditorView.lineWrapping,
    highlightSpecialChars(),
    drawSelection(),
    readOnly ? EditorState.readOnly.of(true) : highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    onUndo
      ? keymap.of([
          { key: "Mod-z", ...act(onUndo) },
          { key: "Mod-Shift-z", ...act(onRedo) },
          { key: "Mod-y", ...act(onRedo) },
        ])
      : [history(), keymap.of(historyKeymap)],
    keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({
      "aria-label": label,
      tabindex: "0",
      ...(testid ? { "data-testid": testid } : {}),
      ...(readOnly ? { "aria-readonly": "true" } : {}),
    }),
  ];
}
