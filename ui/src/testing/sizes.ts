// Sizes for what is drawn only where it is seen: the document of these tests lays nothing out.
import { vi } from "vitest";

const WIDTH = 800;
const HEIGHT = 440;

/** Every element has the same size, and whoever watches the size of one is told once. `vi.restoreAllMocks` ends it. */
export function everythingSeen(): void {
  for (const side of ["clientWidth", "offsetWidth"] as const)
    vi.spyOn(HTMLElement.prototype, side, "get").mockReturnValue(WIDTH);
  for (const side of ["clientHeight", "offsetHeight"] as const)
    vi.spyOn(HTMLElement.prototype, side, "get").mockReturnValue(HEIGHT);
  vi.stubGlobal(
    "ResizeObserver",
    class implements ResizeObserver {
      constructor(private readonly told: ResizeObserverCallback) {}
      observe(target: Element): void {
        const contentRect = new DOMRect(0, 0, WIDTH, HEIGHT);
        const entry = { target, contentRect, borderBoxSize: [], contentBoxSize: [], devicePixelContentBoxSize: [] };
        queueMicrotask(() => this.told([entry], this));
      }
      unobserve(): void {}
      disconnect(): void {}
    },
  );
}
