import { IconButton } from "./Button";
import { toast } from "./toasts";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <IconButton
      icon="copy"
      label={label}
      onClick={() => {
        copyText(text).then(
          () => toast("Copied", "info"),
          () => toast("The browser does not allow copying here. Select the text and copy it.", "bad"),
        );
      }}
    />
  );
}

/** The clipboard needs https (or one's own machine); elsewhere the old way still works. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
}
