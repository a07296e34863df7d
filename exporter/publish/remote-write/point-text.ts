import type { SeriesPoint } from './pushed-series.ts';

/** A point as JSON; numbers that JSON cannot represent are strings: `NaN`, `Infinity`, `-Infinity`. */
export function pointText(layout: number, point: SeriesPoint): string {
  return JSON.stringify({ layout, ...point }, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

/** Null for any other text, such as a truncated file. */
export function parsePoint(text: string): { readonly layout: number; readonly point: SeriesPoint } | null {
  try {
    const value: unknown = JSON.parse(text, (_key, each: unknown) => (typeof each === 'string' ? Number(each) : each));
    if (typeof value !== 'object' || value === null) return null;
    const { layout, ...point } = value as { layout: number } & SeriesPoint;
    return typeof layout === 'number' && typeof point.time_ms === 'number' ? { layout, point } : null;
  } catch {
    return null;
  }
}
