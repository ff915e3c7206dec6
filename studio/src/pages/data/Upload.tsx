import { useState, type ReactNode } from "react";
import { Icon } from "@/components/Icon";
import { toastError } from "@/components/toasts";
import styles from "./Data.module.css";
import { readDrop, type Chosen } from "./dropped";
import { UploadDialog } from "./UploadDialog";
import { useDrop } from "./useDrop";

interface Props {
  /** The dialog is open without anything dropped: somebody pressed the button. */
  isAsked: boolean;
  onClose: () => void;
  /** The data set that gets a version; without it the dialog asks for a name. */
  name?: string;
  mayUpload: boolean;
  children: ReactNode;
}

/** A page onto which a folder or a zip can be dropped. */
export function Upload({ isAsked, onClose, name, mayUpload, children }: Props) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [isReading, setReading] = useState(false);
  const isBusy = chosen !== null || isReading;
  const take = (transfer: DataTransfer) => {
    setReading(true);
    readDrop(transfer)
      .then(setChosen, toastError)
      .finally(() => setReading(false));
  };
  const isOver = useDrop(mayUpload && !isBusy, take);
  const close = () => {
    setChosen(null);
    onClose();
  };
  return (
    <>
      {children}
      {isOver && (
        <div className={styles.overlay} data-testid="data-overlay">
          <p>
            <Icon name="data" size={28} />
            Drop a folder, a zip or files{name ? ` for the next version of ${name}` : ""}
          </p>
        </div>
      )}
      {mayUpload && (isAsked || isBusy) && <UploadDialog key={chosen ? "chosen" : "asked"} chosen={chosen} isReading={isReading} fixedName={name} onChoose={setChosen} onClose={close} />}
    </>
  );
}
