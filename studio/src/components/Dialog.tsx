import { useEffect, useId, useRef, type ReactNode } from "react";
import { Button, IconButton } from "./Button";
import { classes } from "./classes";
import styles from "./Dialog.module.css";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons, the one that does it last. */
  actions?: ReactNode;
  isWide?: boolean;
  /** As large as the window: a chart, a picture. */
  isFull?: boolean;
}

/** A dialog while it is rendered: the browser's own, so focus stays inside and Escape closes it. */
export function Dialog({ title, onClose, children, actions, isWide, isFull }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog || dialog.open) return;
    dialog.showModal();
    // The browser would begin with the button that closes it; whoever opens a form wants to type.
    dialog.querySelector<HTMLElement>("form input:not([type=checkbox], [type=radio]), form select, input[type=search]")?.focus();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      className={classes(styles.dialog, isWide && styles.wide, isFull && styles.full)}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div className={styles.inside}>
        <header className={styles.head}>
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        <div className={styles.body}>{children}</div>
        {actions && <footer className={styles.foot}>{actions}</footer>}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** The verb on the button: "Delete 3 runs", never "OK". */
  verb: string;
  isDangerous?: boolean;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, verb, isDangerous, isBusy, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button variant={isDangerous ? "danger" : "primary"} isBusy={isBusy} onClick={onConfirm} data-testid="confirm">
            {verb}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
