import type { Scale } from '../panels/percentiles/draw/scale.ts';
import type { XySeries } from './xy-series.ts';

/** The path of a series in pixels. Points are strokes without length, which round caps make dots. */
export function seriesPath({ kind, x: xs, y: ys }: XySeries, x: Scale, y: Scale): string {
  const parts: string[] = [];
  let previous: number | null = null;
  for (let i = 0; i < xs.length; i++) {
    const value = ys[i];
    if (value === null || value === undefined || !Number.isFinite(value)) {
      previous = null;
      continue;
    }
    const [px, py] = [round(x(xs[i] ?? 0)), round(y(value))];
    if (kind === 'points') {
      parts.push(`M${px},${py}h0`);
    } else if (previous === null) {
      parts.push(`M${px},${py}`);
    } else {
      parts.push(kind === 'step' ? `H${px}V${py}` : `L${px},${py}`);
    }
    previous = value;
  }
  return parts.join('');
}

function round(pixel: number): number {
  return Math.round(pixel * 10) / 10;
}
