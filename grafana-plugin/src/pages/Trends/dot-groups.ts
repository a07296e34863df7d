import type { Scale } from '../../../../core/chart/scale.ts';
import type { TrendPoint } from './trend-points.ts';

/** Dots that look the same, drawn at once. */
export interface DotGroup {
  /** Unique among the groups. */
  key: string;
  points: [TrendPoint, ...TrendPoint[]];
  isPicked: boolean;
}

/** More dots than these are drawn by their looks: a thousand elements of their own are slow to make and to paint. */
export const MANY = 150;

/** Each dot alone, or those with the same look together; picked ones are always alone, and above the others. */
export function dotGroups(points: readonly TrendPoint[], picked: ReadonlySet<string>): DotGroup[] {
  const groups = new Map<string, DotGroup>();
  for (const point of points) {
    const { run } = point;
    const isPicked = picked.has(run.run_id);
    const isAlone = isPicked || points.length <= MANY;
    const key = isAlone ? run.run_id : [run.verdict ?? '', isFilled(point), run.pinned].join(' ');
    const group = groups.get(key);
    if (group) {
      group.points.push(point);
    } else {
      groups.set(key, { key, points: [point], isPicked });
    }
  }
  return [...groups.values()].sort((a, b) => Number(a.isPicked) - Number(b.isPicked));
}

/** Runs of the baseline are filled. */
export function isFilled({ run }: TrendPoint): boolean {
  return run.accepted || run.pinned;
}

/** A circle, or a square for a pinned run, in the middle of its bounds. */
export function dotPath({ run, place, low, high }: TrendPoint, x: Scale, y: Scale, radius: number): string {
  const [cx, cy] = [x(place), y((low + high) / 2)];
  const width = 2 * radius;
  return run.pinned
    ? `M${cx - radius} ${cy - radius}h${width}v${width}h${-width}z`
    : `M${cx - radius} ${cy}a${radius} ${radius} 0 1 1 ${width} 0a${radius} ${radius} 0 1 1 ${-width} 0z`;
}
