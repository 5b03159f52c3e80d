import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page is one set of static files under /assets. Nothing is inlined: the server's content policy
// allows scripts, styles and workers of its own origin only.
export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: process.env.MATERIA_URL ?? "http://127.0.0.1:7420", changeOrigin: true } } },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});
