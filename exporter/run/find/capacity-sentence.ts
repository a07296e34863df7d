import type { CapacityBounds, CapacityFile, SearchedLoad, SearchEnd } from '../../../core/run/capacity.ts';
import { significant } from '../../../core/text/quantities.ts';

/** A load in the words of the search: `concurrency 8`, `2.5 requests/s`. */
export const searchedLoadText = (load: SearchedLoad, value: number): string =>
  load === 'concurrency' ? `concurrency ${value}` : `${value} requests/s`;

type Capacity = CapacityBounds &
  Pick<CapacityFile, 'load' | 'range' | 'confidence'> & { readonly end: SearchEnd | null };

/** The capacity of a search in one sentence. */
export function capacitySentence(capacity: Capacity): string {
  const { end, load, range, holds, fails } = capacity;
  const text = (value: number): string => searchedLoadText(load, value);
  const known = knownText(capacity);
  switch (end) {
    case 'found':
      return known;
    case 'not_reached':
      return `${known}, the highest load of the search (--find-max)`;
    case 'none_holds':
      return `fails from ${text(range.min)}, the lowest load of the search${confidenceText(capacity)}`;
    case 'not_monotonic':
      return `not monotonic: fails at ${fails === null ? '–' : text(fails)} and holds at a higher load${holds === null ? '' : `; below, holds up to ${text(holds)}`}`;
    case 'undecided':
      return holds !== null && fails !== null
        ? `${known}; the loads between could not be decided (${significant(fails / holds)} times apart)`
        : `${known}; no other load could be decided`;
    case 'budget':
      return `ended by the budget: ${known}`;
    case 'interrupted':
      return `interrupted: ${known}`;
    case 'failed':
      return `ended by a run that failed: ${known}`;
    case null:
      return `so far: ${known}`;
  }
}

function knownText(capacity: Capacity): string {
  const { load, holds, fails } = capacity;
  if (holds === null && fails === null) return 'nothing is known';
  const up = holds === null ? 'no load is known to hold' : `holds up to ${searchedLoadText(load, holds)}`;
  const from = fails === null ? '' : `, fails from ${searchedLoadText(load, fails)}`;
  return `${up}${from}${confidenceText(capacity)}`;
}

const confidenceText = ({ confirmed, confidence }: Capacity): string =>
  confirmed ? ` (${significant(confidence * 100)} % confidence)` : ' (not confirmed by repeats)';
