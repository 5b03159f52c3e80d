// What browser tests share: Debian's Chromium, and pages that notice everything that must not happen.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch() {
  const executablePath = CANDIDATES.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("no Chromium found: apt-get install chromium, or set CHROMIUM to its path");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

/** A page that is signed in; `page.trouble` collects errors, and requests that leave the server. */
export async function open(browser, link, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const origin = new URL(link).origin;
  page.trouble = [];
  page.on("pageerror", (error) => page.trouble.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|violates/i.test(message.text())) page.trouble.push(`policy: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("blob:") && !url.startsWith("data:"))
      page.trouble.push(`left: ${url}`);
  });
  page.on("dialog", (dialog) => {
    page.trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(link);
  // The code has left the address, and the key that it was exchanged for is there.
  await page.waitForFunction(() => !location.hash && localStorage.getItem("materia.key"));
  return page;
}

export const byId = (page, id) => page.locator(`[data-testid="${id}"]`);

/** The page of a cast shows it as of an event. */
export const showsEvent = (page, seq) => page.locator(`[data-testid="cast-page"][data-seq="${seq}"]`).waitFor();

/** The word for where the cast stands. */
export const castIs = (page, word) =>
  page.waitForFunction((wanted) => document.querySelector('[data-testid="cast-state"]')?.textContent === wanted, word, {
    timeout: 60_000,
  });
