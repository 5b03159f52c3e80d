import { useLive } from "../../shared/live";
import { useSearch } from "../../shared/router";

/** The project that is looked at: that of the address, else the first. */
export function useProject(): string | null {
  const { projects } = useLive();
  const [search] = useSearch();
  const wanted = search.get("project");
  return (projects.find((one) => one.id === wanted) ?? projects[0])?.id ?? null;
}
