import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { href, navigate } from "./location";

interface Props extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  to: string;
}

/** A real link: it can be opened in a new tab and copied; a plain click changes the page without loading it anew. */
export function Link({ to, onClick, ...rest }: Props) {
  const click = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain || rest.target) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...rest} href={href(to)} onClick={click} />;
}
