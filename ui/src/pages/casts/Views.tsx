// The views of the list: those that are always there, and those that somebody keeps.
import { BookmarkPlus, X } from "lucide-react";
import { useRef, useState } from "react";
import { Button, IconButton } from "../../shared/Button";
import { Input } from "../../shared/Field";
import { Foot, Pop } from "../../shared/Pop";
import { Tabs } from "../../shared/parts";
import { FILTERS, type Filters, nameFor, type SavedView, sameFilters, savedViews, saveViews } from "./chosen";

interface ViewsProps {
  filters: Filters;
  counts: { all: number; today: number; failed: number };
  countOf: (filters: Filters) => number;
  change: (changes: Record<string, string | null>) => void;
}

export function Views({ filters, counts, countOf, change }: ViewsProps) {
  const [views, setViews] = useState<SavedView[]>(savedViews);
  const [naming, setNaming] = useState<string | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const active = views.find((one) => sameFilters(one.filters, filters));
  const show = (wanted: Filters) =>
    change(Object.fromEntries(FILTERS.map((name) => [name, wanted[name] ?? null])) as Record<string, string | null>);
  const filtered = FILTERS.some((name) => name !== "view" && filters[name]);
  const save = () => {
    const name = naming?.trim();
    if (!name) return;
    setViews(saveViews([...views.filter((one) => one.name !== name), { name, filters }]));
    setNaming(null);
    opener.current?.focus();
  };
  return (
    <>
      <Tabs
        name="view"
        label="Views"
        now={active ? `saved:${active.name}` : (filters.view ?? "all")}
        onPick={(id) => {
          const saved = views.find((one) => `saved:${one.name}` === id);
          if (saved) show(saved.filters);
          else if (active || id === "all") show(id === "all" ? {} : { view: id });
          else change({ view: id });
        }}
        items={[
          { id: "all", label: "All", count: counts.all },
          { id: "today", label: "Last 24 hours", count: counts.today },
          { id: "failed", label: "Failed", count: counts.failed },
          ...views.map((one) => ({ id: `saved:${one.name}`, label: one.name, count: countOf(one.filters) })),
        ]}
      />
      {active ? (
        <IconButton
          icon={X}
          label={`Remove the view ${active.name}`}
          title="Remove this view"
          testid="remove-view"
          onClick={() => setViews(saveViews(views.filter((one) => one !== active)))}
        />
      ) : filtered ? (
        <Pop
          left
          open={naming !== null}
          onOpen={(open) => setNaming(open ? (naming ?? nameFor(filters)) : null)}
          opener={{
            look: "quiet small",
            testid: "save-view",
            icon: BookmarkPlus,
            children: "Keep this view",
          }}
        >
          <h2>Keep this view</h2>
          <div className="stack">
            <div className="dim">Its filters become a tab of this list, in this browser.</div>
            <Input
              value={naming ?? ""}
              maxLength={40}
              aria-label="Name of the view"
              data-testid="view-name"
              autoFocus
              onChange={(event) => setNaming(event.target.value)}
              onKeyDown={(event) => event.key === "Enter" && save()}
            />
            <Foot>
              <Button onClick={() => setNaming(null)}>Cancel</Button>
              <Button look="primary" disabled={!naming?.trim()} data-testid="view-keep" onClick={save}>
                Keep it
              </Button>
            </Foot>
          </div>
        </Pop>
      ) : null}
    </>
  );
}
