import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button, IconButton } from "./Button";
import { classes } from "./classes";
import { Icon, type IconName } from "./Icon";
import styles from "./Menu.module.css";

export interface MenuItem {
  label: string;
  icon?: IconName;
  run: () => void;
  isDangerous?: boolean;
  isDisabled?: boolean;
  isChosen?: boolean;
}

interface Props {
  /** On the button; with `icon` alone it is only read out. */
  label: string;
  icon?: IconName;
  isIconOnly?: boolean;
  items: readonly MenuItem[];
  align?: "left" | "right";
  /** Opens above the button, at the foot of the page. */
  isUp?: boolean;
}

/** A button that opens a list of things to do. Arrow keys move, Escape closes. */
export function Menu({ label, icon = "more", isIconOnly, items, align = "right", isUp }: Props) {
  const { isOpen, setOpen, box, button } = usePopup();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen) list.current?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
  }, [isOpen]);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...(list.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
  };
  const shared = { "aria-haspopup": "menu" as const, "aria-expanded": isOpen, "aria-controls": isOpen ? id : undefined, onClick: () => setOpen(!isOpen), ref: button };
  return (
    <div className={styles.menu} ref={box}>
      {isIconOnly ? <IconButton icon={icon} label={label} {...shared} /> : <Button icon={icon} {...shared}>{label}</Button>}
      {isOpen && (
        <div ref={list} id={id} role="menu" aria-label={label} className={classes(styles.list, align === "left" && styles.left, isUp && styles.up)} onKeyDown={move}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role={item.isChosen === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.isChosen}
              disabled={item.isDisabled}
              className={classes(styles.item, item.isDangerous && styles.dangerous)}
              onClick={() => {
                setOpen(false);
                item.run();
              }}
            >
              {item.icon ? <Icon name={item.icon} /> : <span className={styles.gap} />}
              {item.label}
              {item.isChosen && <Icon name="check" className={styles.chosen} />}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

interface PopupProps {
  label: string;
  icon?: IconName;
  /** Or what is made of a way to close it. */
  children: ReactNode | ((close: () => void) => ReactNode);
  align?: "left" | "right";
  testId?: string;
}

/** A button that opens a small panel with anything in it (columns, filters). */
export function Popup({ label, icon, children, align = "right", testId }: PopupProps) {
  const { isOpen, setOpen, box, button } = usePopup();
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div className={styles.menu} ref={box}>
      <Button icon={icon} aria-haspopup="dialog" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} ref={button} data-testid={testId}>
        {label}
      </Button>
      {isOpen && (
        <div role="dialog" aria-label={label} className={classes(styles.list, styles.panel, align === "left" && styles.left)}>
          {typeof children === "function" ? children(close) : children}
        </div>
      )}
    </div>
  );
}

/** Open or not; closes on Escape and on a click elsewhere, and gives the focus back. */
function usePopup() {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const click = (event: PointerEvent) => !box.current?.contains(event.target as Node) && setOpen(false);
    const key = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", click);
    document.addEventListener("keydown", key);
    return () => {
      document.removeEventListener("pointerdown", click);
      document.removeEventListener("keydown", key);
    };
  }, [isOpen]);
  return { isOpen, setOpen, box, button };
}
