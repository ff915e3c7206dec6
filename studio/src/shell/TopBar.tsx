import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Link } from "@/router/Link";
import { ThemeMenu } from "./ThemeMenu";
import styles from "./TopBar.module.css";

interface Props {
  title: string;
  above: { title: string; to: string }[];
  onSearch: () => void;
  onMenu: () => void;
}

/** Where we are, and the way to everywhere else. */
export function TopBar({ title, above, onSearch, onMenu }: Props) {
  return (
    <header className={styles.bar}>
      <IconButton icon="menu" label="Open the menu" className={styles.menu} onClick={onMenu} />
      <nav aria-label="Breadcrumbs" className={styles.crumbs}>
        <ol>
          {above.map((crumb) => (
            <li key={crumb.to} className={styles.above}>
              <Link to={crumb.to}>{crumb.title}</Link>
              <Icon name="right" size={12} />
            </li>
          ))}
          <li aria-current="page">{title}</li>
        </ol>
      </nav>
      <button type="button" className={styles.search} onClick={onSearch} aria-keyshortcuts="Control+K Meta+K" data-testid="open-palette">
        <Icon name="search" />
        <span>Search or do</span>
        <kbd>Ctrl K</kbd>
      </button>
      <ThemeMenu />
    </header>
  );
}
