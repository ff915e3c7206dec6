import { lazy, Suspense, useEffect, useMemo, useState, type ComponentType } from "react";
import { ErrorBoundary } from "@/components/ErrorBoundary";
import { Skeleton } from "@/components/Skeleton";
import { Toasts } from "@/components/Toasts";
import { pages, type Page, type PageProps } from "@/registry";
import { patiently } from "@/router/loading";
import { usePath } from "@/router/location";
import { matchRoute } from "@/router/match";
import { useNamed } from "@/router/title";
import styles from "./App.module.css";
import { LoggedOut } from "./LoggedOut";
import { NotFound } from "./NotFound";
import { Palette } from "./Palette";
import { useShortcuts } from "./shortcuts";
import { Sidebar } from "./Sidebar";
import { TopBar } from "./TopBar";

// Made once for each page: a lazy component that is made anew would lose its state at every drawing.
const loaded = new Map<Page, ComponentType<PageProps>>(pages.map((page) => [page, lazy(patiently(page.load))]));

/** The frame around every page. */
export function App() {
  const path = usePath();
  const found = useMemo(() => matchRoute(path, pages), [path]);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useShortcuts(() => setPaletteOpen(true));
  useEffect(() => setMenuOpen(false), [path]);
  const named = useNamed(path);
  const title = named ?? (found ? (typeof found.route.title === "string" ? found.route.title : found.route.title(found.params)) : "Not found");
  useEffect(() => {
    document.title = `${title} · Rookery`;
  }, [title]);
  const Shown = found && loaded.get(found.route);

  return (
    <div className={styles.app}>
      <a className={styles.skip} href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
        Skip to the page
      </a>
      <Sidebar isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} path={path} />
      <div className={styles.column}>
        <TopBar title={title} above={found?.route.above?.(found.params) ?? []} onSearch={() => setPaletteOpen(true)} onMenu={() => setMenuOpen(true)} />
        <LoggedOut />
        <main id="main" tabIndex={0} className={styles.main}>
          <ErrorBoundary resetKey={path}>
            <Suspense fallback={<Skeleton lines={6} />}>{Shown ? <Shown key={found.route.path} params={found.params} /> : <NotFound path={path} />}</Suspense>
          </ErrorBoundary>
        </main>
      </div>
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
      <Toasts />
    </div>
  );
}
