/** A thread that makes pictures small: `{id, picture}` in, `{id, small}` out; null where it cannot be read. */

const WIDTH = 256; // pixels: a tile of a grid on a fine screen

addEventListener("message", ({ data: { id, picture } }: MessageEvent<{ id: number; picture: Blob }>) => {
  reduce(picture).then(
    (small) => postMessage({ id, small }),
    () => postMessage({ id, small: null }),
  );
});

async function reduce(picture: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(picture, { resizeWidth: WIDTH, resizeQuality: "medium" });
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
}
