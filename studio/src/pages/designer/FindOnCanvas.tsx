import { useState } from "react";
import { SearchInput } from "@/components/Field";
import styles from "./Designer.module.css";

interface Props {
  found: number;
  onText: (text: string) => void;
  /** The next one that was found. */
  onNext: () => void;
}

/** Marks modules that have the words; Enter goes from one to the next. `status:failed` and `compute:gpu` work too. */
export function FindOnCanvas({ found, onText, onNext }: Props) {
  const [text, setText] = useState("");
  return (
    <span className={styles.saved}>
      <SearchInput
        label="Find on the canvas"
        value={text}
        data-testid="designer-find"
        onChange={(event) => {
          setText(event.target.value);
          onText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") onNext();
        }}
      />
      {text && <span className="numbers">{found}</span>}
    </span>
  );
}
