// One cast as a file of its own: the cast page without a server, and without anything to press that would need one.
import "../styles/tokens.css";
import "../styles/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { answerFrom } from "../api/client";
import { client } from "../shared/ask";
import { setExported } from "../shared/exported";
import { applyTheme } from "../shared/theme";
import { readExported, sourceOf } from "./source";
import { Broken, Viewer } from "./Viewer";

setExported();
applyTheme();

function pageOf(text: string | null | undefined): ReactNode {
  try {
    const file = readExported(text ?? "");
    answerFrom(sourceOf(file));
    return (
      <QueryClientProvider client={client}>
        <Viewer file={file} />
      </QueryClientProvider>
    );
  } catch (error) {
    return <Broken reason={(error as Error).message} />;
  }
}

const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
createRoot(root).render(<StrictMode>{pageOf(document.getElementById("materia-export")?.textContent)}</StrictMode>);
