import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { call } from "@/api/client";
import { keys } from "@/api/query";
import { classes } from "@/components/classes";
import { Icon, type IconName } from "@/components/Icon";
import { statusWord } from "@/components/StatusPill";
import { pages, registered, type Command } from "@/registry";
import { navigate } from "@/router/location";
import { chooseTheme } from "@/theme/theme";
import { best } from "./find";
import { pageCommands } from "./pageCommands";
import styles from "./Palette.module.css";
import { searchRuns } from "./search";

interface Offer {
  title: string;
  kind: string;
  icon: IconName;
  keys?: string;
  words?: string;
  run: () => void;
}

const OWN: Command[] = [
  { title: "Use the light theme", icon: "sun", run: () => chooseTheme("light") },
  { title: "Use the dark theme", icon: "moon", run: () => chooseTheme("dark") },
  { title: "Use the system's theme", icon: "screen", run: () => chooseTheme("system") },
];

/** Ctrl-K: pages, commands, experiments and runs, from the keyboard. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const offers = useOffers(typed);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  useEffect(() => setAt(0), [typed]);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at, id]);
  const take = (offer: Offer | undefined) => {
    if (!offer) return;
    onClose();
    offer.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offers.length) setAt((at + step + offers.length) % offers.length);
    else if (event.key === "Enter") take(offers[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className={styles.palette} aria-label="Search or do" onCancel={onClose} onClick={(event) => event.target === dialog.current && onClose()} data-testid="palette">
      <div className={styles.inside}>
        <div className={styles.field}>
          <Icon name="search" />
          <input
            autoFocus
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-controls={id}
            aria-activedescendant={offers.length ? `${id}-${at}` : undefined}
            aria-label="Search pages, runs, experiments and commands"
            placeholder="Page, run, experiment or command"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={press}
          />
          <kbd>Esc</kbd>
        </div>
        <ul id={id} role="listbox" aria-label="Found" className={styles.list}>
          {offers.map((offer, index) => (
            <li
              key={`${offer.kind} ${offer.title} ${index}`}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              className={classes(styles.offer, index === at && styles.active)}
              onPointerMove={() => setAt(index)}
              onClick={() => take(offer)}
            >
              <Icon name={offer.icon} />
              <span className={styles.title}>{offer.title}</span>
              {offer.keys && <kbd>{offer.keys}</kbd>}
              <span className={styles.kind}>{offer.kind}</span>
            </li>
          ))}
        </ul>
        {offers.length === 0 && <p className={styles.none}>Nothing is called that.</p>}
      </div>
    </dialog>
  );
}

function useOffers(typed: string): Offer[] {
  const text = useDeferredValue(typed.trim());
  const experiments = useQuery({ queryKey: keys.experiments, queryFn: ({ signal }) => call("list_experiments", { signal }) });
  const runs = useQuery({
    queryKey: keys.runs({ palette: text }),
    queryFn: ({ signal }) => searchRuns(text, signal),
    enabled: text.length !== 1, // one letter fits nearly all
    placeholderData: (before) => before,
  });
  const fixed: Offer[] = [
    ...pages.filter((page) => page.nav).sort((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0)).map((page) => ({ title: page.nav?.label ?? "", kind: "Page", icon: page.nav?.icon ?? ("file" as const), keys: page.nav?.keys, run: () => navigate(page.path) })),
    ...[...registered.flatMap((each) => each.commands ?? []), ...OWN].map((command) => ({ ...command, kind: "Command", icon: command.icon ?? ("right" as const) })),
  ];
  const known: Offer[] = (experiments.data?.experiments ?? []).map((experiment) => ({
    title: experiment.name,
    kind: "Experiment",
    icon: "folder",
    run: () => navigate(`/experiments/${encodeURIComponent(experiment.name)}`),
  }));
  const found: Offer[] = (text.length === 1 ? [] : (runs.data ?? [])).map((run) => ({
    title: `${run.display_name || run.id} · ${run.experiment}`,
    kind: statusWord(run.status),
    icon: "runs",
    run: () => navigate(`/runs/${encodeURIComponent(run.id)}`),
  }));
  const words = (offer: Offer) => `${offer.title} ${offer.words ?? ""}`;
  const here: Offer[] = pageCommands().map((command) => ({ ...command, kind: "Here", icon: command.icon ?? ("right" as const) }));
  // Before anything is typed: what can be done here, where to go, and the newest runs. Commands are many; they are found by words.
  if (!text) return [...here, ...fixed.filter((offer) => offer.kind === "Page"), ...found, ...fixed.filter((offer) => offer.kind === "Command").slice(0, 4)];
  return [...best(here, text, words, 5), ...best(fixed, text, words, 6), ...best(known, text, words, 5), ...found];
}
