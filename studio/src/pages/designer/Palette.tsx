import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState, type DragEvent } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { IconButton } from "@/components/Button";
import { ErrorNotice } from "@/components/ErrorNotice";
import { SearchInput } from "@/components/Field";
import { Icon, type IconName } from "@/components/Icon";
import { Skeleton } from "@/components/Skeleton";
import { Tabs } from "@/components/Tabs";
import { useCatalog } from "./asks";
import { DRAG_TYPE } from "./canvas/Canvas";
import { iconOf } from "./canvas/StepNodeView";
import styles from "./Designer.module.css";
import type { Card } from "./graph/model";
import { palette } from "./graph/search";

interface Props {
  /** `module:split`, `data:birds`, `model:net`: put it where there is room. */
  onAdd: (what: string) => void;
  onClose: () => void;
}

type Shelf = "modules" | "data" | "models";

/** What can be put on the canvas: modules by category, data sets, registered models. Dragged, or added by a click. */
export function Palette({ onAdd, onClose }: Props) {
  const [text, setText] = useState("");
  const [shelf, setShelf] = useState<Shelf>("modules");
  const wanted = useDeferredValue(text);
  return (
    <aside className={styles.side} aria-label="Palette" data-testid="designer-palette">
      <div className={styles.sideHead}>
        <span className={styles.row}>
          <SearchInput label="Find a module" value={text} onChange={(event) => setText(event.target.value)} data-testid="designer-palette-find" />
          <IconButton icon="left" label="Hide the palette" onClick={onClose} />
        </span>
      </div>
      <div className={styles.sideBody}>
        <Tabs
          label="What to add"
          selected={shelf}
          onSelect={(id) => setShelf(id as Shelf)}
          tabs={[
            { id: "modules", label: "Modules", content: () => <Modules wanted={wanted} onAdd={onAdd} /> },
            { id: "data", label: "Data", content: () => <DataSets wanted={wanted} onAdd={onAdd} /> },
            { id: "models", label: "Models", content: () => <Models wanted={wanted} onAdd={onAdd} /> },
          ]}
        />
      </div>
    </aside>
  );
}

type ShelfProps = Pick<Props, "onAdd"> & { wanted: string };

function Modules({ wanted, onAdd }: ShelfProps) {
  const { asked, cards } = useCatalog();
  const [open, setOpen] = useState<string | null>(null);
  const categories = useMemo(() => palette(cards, wanted), [cards, wanted]);
  if (asked.isPending) return <Skeleton lines={8} />;
  if (!asked.data && asked.error) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />;
  if (categories.length === 0) return <p className="soft">{wanted ? "No module has these words." : "There is no module. Install rookery with its vision modules, or add your own with rookery module add."}</p>;
  return categories.map((category) => (
    <section key={category.name}>
      <h2 className={styles.category}>{category.name.replace("/", " › ")}</h2>
      <ul className={styles.items}>
        {category.cards.map((card) => (
          <li key={card.name}>
            <Item id={`module:${card.name}`} title={card.title} icon={iconOf({ kind: "module" }, card.category)} hint={card.help} onAdd={onAdd} onAbout={() => setOpen(open === card.name ? null : card.name)} isOpen={open === card.name} />
            {open === card.name && <About card={card} />}
          </li>
        ))}
      </ul>
    </section>
  ));
}

function DataSets({ wanted, onAdd }: ShelfProps) {
  const asked = useQuery({ queryKey: keys.data("names"), queryFn: ({ signal }) => call("list_datasets", { signal }) });
  const names = [...new Set((asked.data?.datasets ?? []).flatMap((each) => ("name" in each && typeof each.name === "string" ? [each.name] : [])))];
  return <Names kind="data" icon="data" names={asked.data ? names : null} error={asked.error} wanted={wanted} onAdd={onAdd} empty="No data set is registered yet. Drop a folder or a zip of pictures on the canvas, and it becomes one." />;
}

function Models({ wanted, onAdd }: ShelfProps) {
  const asked = useQuery({ queryKey: keys.models("names"), queryFn: ({ signal }) => call("list_model_names", { signal }) });
  const names = (asked.data?.models ?? []).map((each) => each.name);
  return <Names kind="model" icon="model" names={asked.data ? names : null} error={asked.error} wanted={wanted} onAdd={onAdd} empty="No model is registered yet. After a run, register one from the outputs of its training module." />;
}

interface NamesProps extends ShelfProps {
  kind: string;
  icon: IconName;
  names: readonly string[] | null;
  error: unknown;
  empty: string;
}

function Names({ kind, icon, names, error, wanted, onAdd, empty }: NamesProps) {
  if (!names) return error ? <ErrorNotice error={error} /> : <Skeleton lines={4} />;
  const found = names.filter((name) => name.toLowerCase().includes(wanted.trim().toLowerCase()));
  if (found.length === 0) return <p className="soft">{names.length === 0 ? empty : "None has this name."}</p>;
  return (
    <ul className={styles.items}>
      {found.map((name) => (
        <li key={name}>
          <Item id={`${kind}:${name}`} title={name} icon={icon} onAdd={onAdd} />
        </li>
      ))}
    </ul>
  );
}

interface ItemProps {
  id: string;
  title: string;
  icon: IconName;
  hint?: string;
  onAdd: (what: string) => void;
  onAbout?: () => void;
  isOpen?: boolean;
}

function Item({ id, title, icon, hint, onAdd, onAbout, isOpen }: ItemProps) {
  const drag = (event: DragEvent) => {
    event.dataTransfer.setData(DRAG_TYPE, id);
    event.dataTransfer.effectAllowed = "copy";
  };
  return (
    <div className={styles.row}>
      <button type="button" draggable onDragStart={drag} className={styles.item} title={hint} onClick={() => onAdd(id)} data-module={id} data-testid="designer-palette-item">
        <Icon name={icon} />
        <span>{title}</span>
      </button>
      {onAbout && <IconButton icon="info" label={`About ${title}`} aria-expanded={isOpen} onClick={onAbout} />}
    </div>
  );
}

/** The card of a module: what it does, takes and gives. */
export function About({ card }: { card: Card }) {
  return (
    <div className={styles.card} data-testid="designer-card">
      <p>{card.help}</p>
      <dl className={styles.ports}>
        {card.inputs.map((port) => (
          <div key={`in-${port.name}`}>
            <dt>In</dt>
            <dd>
              {port.label}: {port.types.join(" or ")}
              {port.optional && " (may be left open)"}
            </dd>
          </div>
        ))}
        {card.outputs.map((port) => (
          <div key={`out-${port.name}`}>
            <dt>Out</dt>
            <dd>
              {port.label}: {port.types.join(" or ")}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
