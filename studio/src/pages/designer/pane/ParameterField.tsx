import { useEffect, useState } from "react";
import { IconButton } from "@/components/Button";
import { Checkbox, Field, Input, Select } from "@/components/Field";
import { Icon } from "@/components/Icon";
import { Menu, type MenuItem } from "@/components/Menu";
import styles from "../Designer.module.css";
import { boundTo, type CardParameter } from "../graph/model";
import { check, range } from "../graph/parameters";

interface Props {
  parameter: CardParameter;
  /** undefined: as the card says. */
  value: unknown;
  isReadOnly: boolean;
  onChange: (value: unknown) => void;
  /** Makes it a parameter of the pipeline, or gives it a name of one that is there. */
  onBind: (name: string | null) => void;
  /** Names of the pipeline's parameters. */
  names: readonly string[];
}

/** One parameter of a module: checked as one types, with help, its default at hand, and the way to the pipeline's own parameters. */
export function ParameterField({ parameter, value, isReadOnly, onChange, onBind, names }: Props) {
  const bound = boundTo(value);
  const shown = value === undefined ? parameter.default : value;
  const [typed, setTyped] = useState(() => textOf(shown));
  // What was typed stays as it was typed ("1e-3"), unless the value has become another one: by undo, by another's hand.
  useEffect(() => {
    setTyped((before) => (check(parameter, before).value === shown || before === textOf(shown) ? before : textOf(shown)));
  }, [shown, parameter]);
  const problem = bound === null ? check(parameter, value === undefined ? (parameter.required ? undefined : parameter.default) : value).problem : null;
  const isDefault = value === undefined;
  const items: MenuItem[] = [
    { label: "Back to the default", icon: "again", isDisabled: isDefault, run: () => onChange(undefined) },
    { label: "Make it a pipeline parameter", icon: "plus", isDisabled: bound !== null, run: () => onBind(null) },
    ...names.filter((name) => name !== bound).map((name) => ({ label: `Use pipeline parameter ${name}`, icon: "branch" as const, run: () => onBind(name) })),
  ];
  const isLong = parameter.kind === "String" && /\n/.test(textOf(parameter.default) + textOf(shown)); // a script
  const isText = parameter.kind !== "Boolean" && parameter.kind !== "Mode";
  const type = (text: string) => {
    setTyped(text);
    const checked = check(parameter, text);
    onChange(parameter.kind === "String" ? text : checked.value);
  };
  return (
    <div className={styles.row} data-parameter={parameter.name} data-testid="designer-parameter">
      {bound !== null ? (
        <div>
          <Field label={parameter.label} hint={parameter.help}>
            {(ids) => (
              <span {...ids} className={styles.bound} role="group">
                <Icon name="branch" /> {bound}
              </span>
            )}
          </Field>
        </div>
      ) : parameter.kind === "Boolean" ? (
        <div>
          <Checkbox label={parameter.label} checked={shown === true} disabled={isReadOnly} onChange={(event) => onChange(event.target.checked)} />
          <p className={styles.about}>{parameter.help}</p>
        </div>
      ) : (
        <Field label={parameter.label} problem={problem ?? undefined} hint={`${parameter.help}${hintOf(parameter)}`}>
          {(ids) =>
            isLong ? (
              <textarea {...ids} className={`${styles.textarea} ${styles.code}`} value={typed} disabled={isReadOnly} spellCheck={false} onChange={(event) => type(event.target.value)} />
            ) : isText ? (
              <Input {...ids} value={typed} disabled={isReadOnly} inputMode={parameter.kind === "Integer" ? "numeric" : parameter.kind === "Float" ? "decimal" : undefined} autoComplete="off" spellCheck={false} onChange={(event) => type(event.target.value)} />
            ) : (
              <Select {...ids} value={textOf(shown)} disabled={isReadOnly} onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}>
                {parameter.required && <option value="">Choose one</option>}
                {!parameter.required && !parameter.choices.includes(textOf(shown)) && <option value={textOf(shown)}>{textOf(shown)}</option>}
                {parameter.choices.map((choice) => (
                  <option key={choice} value={choice}>
                    {choice}
                  </option>
                ))}
              </Select>
            )
          }
        </Field>
      )}
      {!isReadOnly &&
        (bound !== null ? (
          <IconButton className={styles.rowTool} icon="close" label={`Give ${parameter.label} a value of its own`} onClick={() => onChange(undefined)} />
        ) : (
          <span className={parameter.kind === "Boolean" ? undefined : styles.rowTool}>
            <Menu label={`More for ${parameter.label}`} isIconOnly items={items} />
          </span>
        ))}
    </div>
  );
}

function hintOf(parameter: CardParameter): string {
  const bounds = range(parameter).replace(/^, /, "").trim();
  return bounds ? ` ${bounds.charAt(0).toUpperCase()}${bounds.slice(1)}.` : "";
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
