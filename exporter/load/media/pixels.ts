import { seededRandom } from '../../../core/stats/seeded-random.ts';

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Rows from the top, three bytes per pixel. */
export interface Pixels extends ImageSize {
  readonly rgb: Uint8Array;
}

/** Pixels between two colors that are drawn; those between them are interpolated. */
const CELL = 64;
/** Largest difference of a pixel from the gradient. */
export const NOISE = 12;
/** Gradients between random colors, with noise: they compress about as photos do. */
export function drawPixels({ width, height }: ImageSize, key: string): Pixels {
  const random = seededRandom(key);
  const rowColors = 3 * (Math.ceil(width / CELL) + 1);
  const colors = Float64Array.from({ length: rowColors * (Math.ceil(height / CELL) + 1) }, () => 256 * random());
  const edge = new Float64Array(rowColors);
  const rgb = new Uint8ClampedArray(3 * width * height);
  let at = 0;
  for (let y = 0; y < height; y++) {
    const above = rowColors * Math.floor(y / CELL);
    const down = (y % CELL) / CELL;
    for (let i = 0; i < rowColors; i++) {
      const from = colors[above + i] ?? 0;
      edge[i] = from + ((colors[above + rowColors + i] ?? 0) - from) * down;
    }
    for (let x = 0; x < width; x++) {
      const left = 3 * Math.floor(x / CELL);
      const right = (x % CELL) / CELL;
      const noise = (2 * random() - 1) * NOISE;
      for (let i = left; i < left + 3; i++) {
        const from = edge[i] ?? 0;
        rgb[at++] = from + ((edge[i + 3] ?? 0) - from) * right + noise;
      }
    }
  }
  return { width, height, rgb: new Uint8Array(rgb.buffer) };
}
