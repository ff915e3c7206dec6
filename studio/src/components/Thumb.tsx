import { useEffect, useRef, useState } from "react";
import { smallPicture } from "./small";

interface Props {
  source: string;
  /** Of the file; where it is not known it counts as small. */
  bytes: number | null | undefined;
  onBroken?: () => void;
}

const SMALL_BYTES = 300_000;
const NEAR = "300px"; // of the window's edge
const NOTHING = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/** A picture in a grid. A thousand photographs of 4 MB each are not kept: of large ones only a small picture is, made when it is looked at. */
export function Thumb({ source, bytes, onBroken }: Props) {
  if ((bytes ?? 0) > SMALL_BYTES) return <Reduced key={source} source={source} onBroken={onBroken} />;
  return <img src={source} alt="" loading="lazy" decoding="async" onError={onBroken} />;
}

function Reduced({ source, onBroken }: Pick<Props, "source" | "onBroken">) {
  const [shown, setShown] = useState<string | null>(null);
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    if (shown !== null || !image.current) return;
    let asking: AbortController | null = null;
    const observer = new IntersectionObserver(
      (seen) => {
        const isSeen = seen.at(-1)?.isIntersecting ?? false;
        if (isSeen === (asking !== null)) return;
        asking?.abort(); // it left the window before it was here
        asking = isSeen ? new AbortController() : null;
        if (asking) ask(asking.signal);
      },
      { rootMargin: NEAR },
    );
    const ask = (signal: AbortSignal) =>
      smallPicture(source, signal).then(
        (made) => (signal.aborted ? URL.revokeObjectURL(made) : setShown(made)),
        () => signal.aborted || setShown(source), // what cannot be made small is shown as it is, or not at all
      );
    observer.observe(image.current);
    return () => {
      observer.disconnect();
      asking?.abort();
    };
  }, [source, shown]);
  useEffect(() => () => {
    if (shown?.startsWith("blob:")) URL.revokeObjectURL(shown);
  }, [shown]);
  return <img ref={image} src={shown ?? NOTHING} alt="" decoding="async" onError={onBroken} data-is={shown === null ? "coming" : "here"} />;
}
