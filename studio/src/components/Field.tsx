import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes } from "react";
import { classes } from "./classes";
import styles from "./Field.module.css";
import { Icon } from "./Icon";

interface FieldProps {
  label: string;
  /** The label is read out but not shown, where the place says it already. */
  isLabelHidden?: boolean;
  hint?: ReactNode;
  problem?: string;
  children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}

/** A label, a control, and below it what helps or what is wrong. */
export function Field({ label, isLabelHidden, hint, problem, children }: FieldProps) {
  const id = useId();
  const note = problem ?? hint;
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={isLabelHidden ? "unseen" : styles.label}>
        {label}
      </label>
      {children({ id, "aria-describedby": note ? `${id}-note` : undefined, "aria-invalid": problem ? true : undefined })}
      {note && (
        <p id={`${id}-note`} className={problem ? styles.problem : styles.hint}>
          {note}
        </p>
      )}
    </div>
  );
}

type InputProps = InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> };

export function Input({ className, ref, ...rest }: InputProps) {
  return <input {...rest} ref={ref} className={classes(styles.input, className)} />;
}

export function SearchInput({ className, ref, label, ...rest }: InputProps & { label: string }) {
  return (
    <span className={classes(styles.search, className)}>
      <Icon name="search" />
      <input type="search" aria-label={label} placeholder={label} autoComplete="off" spellCheck={false} {...rest} ref={ref} className={styles.input} />
    </span>
  );
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select {...rest} className={classes(styles.input, styles.select, className)} />;
}

export function Checkbox({ label, ...rest }: InputProps & { label: ReactNode }) {
  return (
    <label className={styles.checkbox}>
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}
