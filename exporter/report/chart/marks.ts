import { Html, html } from '../html.ts';

/** A point of a line: position on the x and the y axis; y null interrupts the line. */
export type ChartPoint = readonly [x: number, y: number | null];

/** One decimal of a pixel is finer than any display or printer resolves, and keeps the file small. */
const px = (position: number): string => String(Math.round(position * 10) / 10);

/** A line through the points. A point between two gaps becomes a dot. */
export function line(points: readonly ChartPoint[], style: string): Html {
  const path = points
    .map(([x, y], i) => {
      if (y === null) return '';
      const before = points[i - 1]?.[1] ?? null;
      const after = points[i + 1]?.[1] ?? null;
      if (before === null && after === null) return `M${px(x)},${px(y)}h0`;
      return `${before === null ? 'M' : 'L'}${px(x)},${px(y)}`;
    })
    .join('');
  return path === '' ? new Html('') : html`<path class="line ${style}" d="${path}" />`;
}

/** Many small dots as one path. */
export function dots(points: readonly (readonly [x: number, y: number])[], style: string): Html {
  if (points.length === 0) return new Html('');
  const path = points.map(([x, y]) => `M${px(x)},${px(y)}h0`).join('');
  return html`<path class="dots ${style}" d="${path}" />`;
}

/** Bars that stand on `base`. */
export function bars(
  columns: readonly { readonly from: number; readonly to: number; readonly y: number }[],
  base: number,
  style: string,
): Html {
  const path = columns
    .filter(({ y }) => y < base)
    .map(({ from, to, y }) => `M${px(from)},${px(base)}V${px(y)}H${px(to)}V${px(base)}z`)
    .join('');
  return path === '' ? new Html('') : html`<path class="bars ${style}" d="${path}" />`;
}
