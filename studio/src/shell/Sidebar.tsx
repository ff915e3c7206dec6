import { useState } from "react";
import { useMay } from "@/api/session";
import { IconButton } from "@/components/Button";
import { classes } from "@/components/classes";
import { Icon } from "@/components/Icon";
import { pages, type Page } from "@/registry";
import { Link } from "@/router/Link";
import { Account } from "./Account";
import { ConnectionState } from "./ConnectionState";
import styles from "./Sidebar.module.css";

const KEY = "rookery.sidebar";
const listed = pages.filter((page): page is Page & { nav: NonNullable<Page["nav"]> } => page.nav !== undefined).sort((a, b) => a.nav.order - b.nav.order);
const IN_BAR = 4; // on a phone: these at the bottom, all in the drawer

interface Props {
  isOpen: boolean; // as a drawer, on narrow screens
  onClose: () => void;
  path: string;
}

/** Where one can go. Wide: beside the page, or only its icons; narrow: a bar at the bottom, and a drawer. */
export function Sidebar({ isOpen, onClose, path }: Props) {
  const [isSmall, setSmall] = useState(() => readSmall());
  const isOwner = useMay("owner");
  const isContributor = useMay("contributor");
  const shown = listed.filter((page) => (page.least === "owner" ? isOwner : page.least === "contributor" ? isContributor : true));
  const toggle = () => {
    setSmall(!isSmall);
    try {
      localStorage.setItem(KEY, isSmall ? "wide" : "small");
    } catch {
      // not remembered then
    }
  };
  return (
    <>
      {isOpen && <div className={styles.shade} onClick={onClose} aria-hidden="true" />}
      <nav className={classes(styles.sidebar, isSmall && styles.small, isOpen && styles.open)} aria-label="Studio" onKeyDown={(event) => event.key === "Escape" && onClose()}>
        <div className={styles.brand}>
          <Link to="/" className={styles.mark} aria-label="Rookery, home">
            <Icon name="nest" size={22} />
            <span>Rookery</span>
          </Link>
          <IconButton icon="close" label="Close the menu" className={styles.close} onClick={onClose} />
        </div>
        <ul className={styles.list}>
          {shown.map((page) => (
            <li key={page.path}>
              <NavLink page={page} path={path} isSmall={isSmall} />
            </li>
          ))}
        </ul>
        <div className={styles.foot}>
          <ConnectionState isSmall={isSmall && !isOpen} />
          <Account isSmall={isSmall && !isOpen} />
          <IconButton icon={isSmall ? "right" : "left"} label={isSmall ? "Show words in the sidebar" : "Show only icons in the sidebar"} className={styles.collapse} onClick={toggle} />
        </div>
      </nav>
      <nav className={styles.bar} aria-label="Main pages">
        {shown.slice(0, IN_BAR).map((page) => (
          <NavLink key={page.path} page={page} path={path} isSmall={false} />
        ))}
      </nav>
    </>
  );
}

function NavLink({ page, path, isSmall }: { page: Page & { nav: NonNullable<Page["nav"]> }; path: string; isSmall: boolean }) {
  const isHere = page.path === "/" ? path === "/" : path === page.path || path.startsWith(`${page.path}/`);
  return (
    <Link to={page.path} className={classes(styles.link, isHere && styles.here)} aria-current={isHere ? "page" : undefined} title={isSmall ? page.nav.label : undefined} data-testid={`nav-${page.nav.label.toLowerCase()}`}>
      <Icon name={page.nav.icon} size={18} />
      <span>{page.nav.label}</span>
    </Link>
  );
}

function readSmall(): boolean {
  try {
    return localStorage.getItem(KEY) === "small";
  } catch {
    return false;
  }
}
