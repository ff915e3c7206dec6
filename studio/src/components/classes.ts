/** Class names that hold, joined: `classes(styles.row, isOpen && styles.open)`. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
