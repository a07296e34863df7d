/** A point of two quantities that are better when higher. */
export interface Tradeoff {
  readonly x: number;
  readonly y: number;
}

/**
 * The Pareto frontier: the points that no other point reaches in one quantity and exceeds in the other, by ascending x.
 * Equal points are all on it.
 */
export function paretoFrontier<Point extends Tradeoff>(points: readonly Point[]): readonly Point[] {
  const fromRight = [...points].sort((a, b) => b.x - a.x || b.y - a.y);
  const frontier: Point[] = [];
  let best: Point | null = null;
  for (const point of fromRight) {
    if (best === null || point.y > best.y || (point.y === best.y && point.x === best.x)) {
      frontier.push(point);
      best = point;
    }
  }
  return frontier.reverse();
}
