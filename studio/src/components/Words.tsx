/** A sentence of the keeper's: what stands in backticks is shown as code, so that commands can be told from words. */
export function Words({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : <span key={index}>{part}</span>))}
    </>
  );
}
