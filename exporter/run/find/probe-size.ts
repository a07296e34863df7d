import type { ObjectiveTest } from './objective-test.ts';

/** Probability of each wrong verdict of one probe, over all its looks: two sides make 95 %. */
const ERROR = 0.025;
/** A probe is judged at most so often by its requests, and once more when it has lasted long enough. */
const LOOKS = 10;
const ALL_LOOKS = LOOKS + 1;
/** Judged requests at the first look. */
const FIRST_LOOK = 16;
/** A probe may take so many times the requests that decide if all keep the limit. */
const MAX_TIMES = 8;
/** A mean has no share to derive a size from. */
const SHARE_FOR_MEAN = 0.05;
const MIN_REQUESTS = 256;

/** How long a probe may be, and when it is judged. */
export interface ProbeSize {
  /** Numbers of judged requests, ascending; the last is the largest. */
  readonly looks: readonly number[];
  /** Probability of a wrong verdict at one look. */
  readonly level: number;
}

/**
 * The looks of a probe: their distances grow, so that a response that is clear comes early and a difficult one has up to
 * eight times the requests that decide when all keep the limit. A probe that stops at the first look that decides would be
 * wrong more often than its level says (Armitage, McPherson and Rowe, 1969: 19 % instead of 5 % with ten looks). Therefore each
 * look has its equal part of the probability of error (Bonferroni), which holds however the looks depend on each other.
 *
 * `inFlight`: requests of a closed load, which depend on each other in generations; `most`: the user's limit; null: none.
 */
export function probeSize(tests: readonly ObjectiveTest[], inFlight: number, most: number | null): ProbeSize {
  const level = ERROR / ALL_LOOKS / tests.length;
  const largest = Math.min(
    most ?? Infinity,
    Math.max(...tests.map((test) => sizeFor(test, inFlight, ERROR / ALL_LOOKS))),
  );
  const first = Math.min(FIRST_LOOK, largest);
  const factor = (largest / first) ** (1 / (LOOKS - 1));
  const looks = Array.from({ length: LOOKS }, (_, i) => Math.round(first * factor ** i));
  return { looks: [...new Set(looks)], level };
}

function sizeFor({ allowedBeyond }: ObjectiveTest, inFlight: number, level: number): number {
  const allowed = allowedBeyond ?? SHARE_FOR_MEAN;
  const deciding = Math.ceil(Math.log(level) / Math.log1p(-allowed));
  return Math.max(MIN_REQUESTS, MAX_TIMES * deciding, (MAX_TIMES / 2) * Math.ceil(1 / allowed) * inFlight);
}
