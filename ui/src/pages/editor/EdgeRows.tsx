// The ways out of a socket, in their order; a row can be dragged, or moved with its buttons.
import { ChevronDown, ChevronUp, Ellipsis, GripVertical, Plus, X } from "lucide-react";
import { type DragEvent, useState } from "react";
import type { SocketDoc } from "../../document";
import { Button, IconButton } from "../../shared/Button";
import { changeEdge, link, orderEdge, removeEdge } from "./acts";
import css from "./editor.module.css";
import { SelectField } from "./fields";
import { conditions, targets } from "./options";
import { type EditorStore, useEditor } from "./store";

export function EdgeRows({ store, socket }: { store: EditorStore; socket: SocketDoc }) {
  const { loadout, readOnly: off, subject } = useEditor(store, "loadout", "readOnly", "subject");
  const [dragged, setDragged] = useState<number | null>(null);
  const drop = (event: DragEvent, index: number) => {
    event.preventDefault();
    if (dragged !== null && dragged !== index) orderEdge(store, socket.id, dragged, index);
    setDragged(null);
  };
  return (
    <>
      <ol className={css.edges} data-testid="edges">
        {socket.edges.map((edge, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: an edge is its place in the list
            key={index}
            className={dragged === index ? css.dragged : ""}
            data-testid={`edge-row-${index}`}
            onDragOver={(event) => dragged !== null && event.preventDefault()}
            onDrop={(event) => drop(event, index)}
          >
            {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons beside it do the same */}
            <span
              className={css.dragger}
              draggable={!off}
              data-testid={`grip-${index}`}
              onDragStart={(event) => {
                event.dataTransfer.setData("text/plain", String(index));
                event.dataTransfer.effectAllowed = "move";
                setDragged(index);
              }}
              onDragEnd={() => setDragged(null)}
            >
              <GripVertical className="ico s" />
            </span>
            <span className={css.o}>{index + 1}</span>
            <SelectField
              label={`Condition of edge ${index + 1}`}
              testid={`edge-when-${index}`}
              disabled={off}
              value={edge.when}
              options={conditions}
              onChange={(value) => changeEdge(store, edge.id, ["when"], value)}
            />
            <SelectField
              label={`Target of edge ${index + 1}`}
              testid={`edge-to-${index}`}
              disabled={off}
              value={edge.to}
              options={targets({ loadout })}
              onChange={(value) => {
                changeEdge(store, edge.id, ["to"], value);
                store.select([{ kind: "socket", id: socket.id }]);
              }}
            />
            <span className={css.tools}>
              <IconButton
                icon={ChevronUp}
                label={`Move edge ${index + 1} up`}
                testid={`edge-up-${index}`}
                disabled={off || index === 0}
                onClick={() => orderEdge(store, socket.id, index, index - 1)}
              />
              <IconButton
                icon={ChevronDown}
                label={`Move edge ${index + 1} down`}
                disabled={off || index === socket.edges.length - 1}
                onClick={() => orderEdge(store, socket.id, index, index + 1)}
              />
              <IconButton
                icon={Ellipsis}
                label={`More of edge ${index + 1}`}
                testid={`edge-more-${index}`}
                onClick={() => store.select([{ kind: "edge", id: edge.id }])}
              />
              <IconButton
                icon={X}
                label={`Remove edge ${index + 1}`}
                disabled={off}
                onClick={() => store.edit("remove an edge", (writer) => removeEdge(writer, subject.name, edge.id))}
              />
            </span>
          </li>
        ))}
      </ol>
      <Button
        icon={Plus}
        className={css.addline}
        look="quiet small"
        data-testid="add-edge"
        disabled={off}
        onClick={() => {
          link(store, socket.id, "end");
          store.select([{ kind: "socket", id: socket.id }]);
        }}
      >
        Add an edge
      </Button>
    </>
  );
}
