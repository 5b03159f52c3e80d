import { type ComponentType, lazy, type ReactNode, Suspense } from "react";

/** A part that is loaded when it is first shown. */
export function later<P extends object>(
  read: () => Promise<ComponentType<P>>,
  meanwhile: (props: P) => ReactNode = () => <p className="dim">Reading…</p>,
): (props: P) => ReactNode {
  const Part = lazy(async () => ({ default: await read() })) as unknown as ComponentType<P>;
  return (props) => (
    <Suspense fallback={meanwhile(props)}>
      <Part {...props} />
    </Suspense>
  );
}
