import type { ButtonHTMLAttributes, Ref } from "react";
import styles from "./Button.module.css";
import { classes } from "./classes";
import { Icon, type IconName } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  isBusy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** A button with a word on it. While busy it stays where it is and cannot be pressed again. */
export function Button({ variant = "plain", icon, isBusy = false, className, children, disabled, ref, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      ref={ref}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      className={classes(styles.button, styles[variant], className)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does: read out, and shown when the pointer rests on it. */
  label: string;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, className, ref, ...rest }: IconProps) {
  return (
    <button type="button" {...rest} ref={ref} aria-label={label} title={label} className={classes(styles.button, styles.quiet, styles.icon, className)}>
      <Icon name={icon} />
    </button>
  );
}
