import { EmptyState } from "@/components/EmptyState";
import { Link } from "@/router/Link";

export function NotFound({ path }: { path: string }) {
  return (
    <EmptyState icon="search" title="There is no such page">
      <p>
        Nothing is at <code>{path}</code>. Go to <Link to="/">the first page</Link>, see <Link to="/runs">all runs</Link>, or press <kbd>Ctrl K</kbd> and search.
      </p>
    </EmptyState>
  );
}
