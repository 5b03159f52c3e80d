import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { openSession } from "./api/client";
import { App } from "./app";
import { applyTheme } from "./shared/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/graph.css";
import "./styles/casts.css";
import "./styles/cast.css";
import "./styles/time-bar.css";
import "./styles/panel.css";
import "./styles/dock.css";
import "./styles/cast-narrow.css";
import "./styles/inbox.css";
import "./styles/pages.css";
import "./styles/editor.css";

applyTheme();
const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
const app = createRoot(root);
// The code in the address is exchanged before anything is asked of the server.
openSession().then(
  () =>
    app.render(
      <StrictMode>
        <App refused={null} />
      </StrictMode>,
    ),
  (error: unknown) =>
    app.render(
      <StrictMode>
        <App refused={error instanceof Error ? error.message : String(error)} />
      </StrictMode>,
    ),
);
