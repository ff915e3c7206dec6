import { useEffect, useState } from "react";
import { toastError } from "@/components/toasts";
import type { Chosen } from "@/pages/data/dropped";
import { UploadDialog } from "@/pages/data/UploadDialog";

interface Props {
  /** What was dropped, being looked through. */
  reading: Promise<Chosen>;
  /** The data set's name, once it is registered. */
  onDone: (name: string) => void;
  onClose: () => void;
}

/** What was dropped on the canvas becomes a data set, and then a node. */
export function DropUpload({ reading, onDone, onClose }: Props) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useEffect(() => {
    let isGone = false;
    reading.then(
      (found) => !isGone && setChosen(found),
      (error: unknown) => {
        if (isGone) return;
        toastError(error);
        onClose();
      },
    );
    return () => {
      isGone = true;
    };
  }, [reading, onClose]);
  return <UploadDialog key={chosen ? "chosen" : "reading"} chosen={chosen} isReading={chosen === null} onChoose={setChosen} onClose={onClose} onDone={(made) => onDone(made.name)} />;
}
