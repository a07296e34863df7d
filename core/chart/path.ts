/** A point of a line in pixels; y null interrupts the line. */
export type ChartPoint = readonly [x: number, y: number | null];

/** line: from point to point; step: each value holds until the next; points: nothing between. */
type PathKind = 'line' | 'step' | 'points';

/** Tenths of a pixel are as fine as any display or printer resolves. */
export function px(pixel: number): number {
  return Math.round(pixel * 10) / 10;
}

/** The SVG path through the points. A point alone is a stroke without length, which a round cap makes a dot. */
export function pathOf(points: Iterable<ChartPoint>, kind: PathKind = 'line'): string {
  let path = '';
  let joined = 0;
  const dot = (): string => (joined === 1 ? 'h0' : '');
  for (const [x, y] of points) {
    if (y === null || !Number.isFinite(y)) {
      path += dot();
      joined = 0;
    } else if (joined === 0 || kind === 'points') {
      path += `${dot()}M${px(x)},${px(y)}`;
      joined = 1;
    } else {
      path += kind === 'step' ? `H${px(x)}V${px(y)}` : `L${px(x)},${px(y)}`;
      joined++;
    }
  }
  return path + dot();
}

/** Bars that stand on `base`. */
export function barsPath(
  columns: readonly { readonly from: number; readonly to: number; readonly y: number }[],
  base: number,
): string {
  return columns
    .filter(({ y }) => y < base)
    .map(({ from, to, y }) => `M${px(from)},${px(base)}V${px(y)}H${px(to)}V${px(base)}z`)
    .join('');
}

export function diamondPath(x: number, y: number, radius: number): string {
  return `M${px(x)},${px(y - radius)}L${px(x + radius)},${px(y)}L${px(x)},${px(y + radius)}L${px(x - radius)},${px(y)}z`;
}
