import { Card } from "@/components/Card";
import { Field, Select } from "@/components/Field";
import { formatTime } from "@/components/format";
import { useNow } from "@/components/Time";
import { chooseZone, knownZones, useZone } from "@/components/zone";
import { chooseTheme, useThemeChoice, type Choice } from "@/theme/theme";
import styles from "./Settings.module.css";

const THEMES: [Choice, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

/** What belongs to this browser, not to the account. */
export function LookTab() {
  const theme = useThemeChoice();
  const zone = useZone();
  const now = useNow();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <div className={styles.narrow}>
      <Card title="Look" testId="settings-look">
        <fieldset className={styles.choices}>
          <legend>Theme</legend>
          {THEMES.map(([choice, label]) => (
            <label key={choice} className={styles.choice}>
              <input type="radio" name="theme" checked={theme === choice} onChange={() => chooseTheme(choice)} />
              {label}
            </label>
          ))}
        </fieldset>
      </Card>
      <Card title="Time" testId="settings-time">
        <div className={styles.form}>
          <Field label="Time zone" hint={`Now it is ${formatTime(now / 1000, zone)}`}>
            {(ids) => (
              <Select {...ids} value={zone ?? ""} onChange={(event) => chooseZone(event.target.value)} data-testid="settings-zone">
                <option value="">This browser's: {own}</option>
                {knownZones().map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
      </Card>
      <p className={styles.about}>Both are kept in this browser.</p>
    </div>
  );
}
