import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { openSession } from "./api/client";
import { App } from "./app";
import { client } from "./shared/ask";
import { applyTheme } from "./shared/theme";

applyTheme();
const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
const app = createRoot(root);
// The code in the address is exchanged before anything is asked of the server.
let opened = 0;
async function openPage(): Promise<void> {
  const refused = await openSession().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  opened += 1;
  app.render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App key={opened} refused={refused} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
void openPage();
// A link that is pasted into a tab of this page changes the address and loads nothing.
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("code")) void openPage();
});
