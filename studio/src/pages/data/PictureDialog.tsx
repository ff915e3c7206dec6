import { useEffect, useState } from "react";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Icon } from "@/components/Icon";
import styles from "./Data.module.css";
import { neighbour } from "./datasets";

interface Props {
  path: string;
  /** Those that the arrow keys go through. */
  all: readonly string[];
  url: (path: string, inline: boolean) => string;
  onShow: (path: string) => void;
  onClose: () => void;
}

/** One picture, as large as the window lets it. */
export function PictureDialog({ path, all, url, onShow, onClose }: Props) {
  const before = neighbour(all, path, -1);
  const after = neighbour(all, path, 1);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const next = { ArrowLeft: before, ArrowRight: after }[event.key];
      if (next) onShow(next);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [before, after, onShow]);
  return (
    <Dialog
      title={path}
      isFull
      onClose={onClose}
      actions={
        <>
          <a className={styles.download} href={url(path, false)} download={path.split("/").pop()}>
            <Icon name="download" /> Download
          </a>
          <Button icon="left" disabled={!before} onClick={() => before && onShow(before)}>
            Before
          </Button>
          <Button icon="right" disabled={!after} onClick={() => after && onShow(after)}>
            Next
          </Button>
        </>
      }
    >
      <Large key={path} path={path} source={url(path, true)} />
    </Dialog>
  );
}

function Large({ path, source }: { path: string; source: string }) {
  const [size, setSize] = useState<[number, number] | null>(null);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p>This picture cannot be shown: the browser does not know its format, or it is damaged. Download it to look at it.</p>;
  return (
    <figure className={styles.large} data-testid="data-picture">
      <img src={source} alt={path} onLoad={(event) => setSize([event.currentTarget.naturalWidth, event.currentTarget.naturalHeight])} onError={() => setBroken(true)} />
      <figcaption className={styles.about}>{size ? `${size[0]} × ${size[1]} pixels` : "…"}</figcaption>
    </figure>
  );
}
