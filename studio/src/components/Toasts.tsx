import { useSyncExternalStore } from "react";
import { Button, IconButton } from "./Button";
import { classes } from "./classes";
import { Icon } from "./Icon";
import { Words } from "./Words";
import styles from "./Toasts.module.css";
import { currentToasts, dismiss, subscribeToasts } from "./toasts";

const ICONS = { good: "completed", bad: "failed", info: "info" } as const;

export function Toasts() {
  const shown = useSyncExternalStore(subscribeToasts, currentToasts);
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map((each) => (
        <div key={each.id} className={classes(styles.toast, styles[each.tone])} data-testid="toast">
          <Icon name={ICONS[each.tone]} />
          <p>
            <Words text={each.text} />
          </p>
          {each.action && (
            <Button
              variant="quiet"
              onClick={() => {
                each.action?.run();
                dismiss(each.id);
              }}
            >
              {each.action.label}
            </Button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(each.id)} />
        </div>
      ))}
    </div>
  );
}
