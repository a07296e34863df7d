/** The part of a run's load that one generator takes: of every `parts` numbers the one with the remainder `part`. */
export interface Share {
  readonly part: number;
  readonly parts: number;
}

export const WHOLE: Share = { part: 0, parts: 1 };

/** Number of values from 0 to `count` − 1 in a share. The shares of all parts add up to `count`. */
export function shareOf(count: number, { part, parts }: Share): number {
  return Math.max(0, Math.ceil((count - part) / parts));
}

/** A share of a share: worker `inner` of shard `outer`. All workers of a shard together have the shard's numbers. */
export function shareWithin(outer: Share, inner: Share): Share {
  return { part: outer.part + outer.parts * inner.part, parts: outer.parts * inner.parts };
}
