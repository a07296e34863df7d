import type { DraftCounts } from './events.ts';
import type { Speculation } from './parameters.ts';
import type { Random } from '../../core/stats/seeded-random.ts';
import type { Sequence } from './sequence.ts';

interface Drafts {
  /** Draft tokens that each request takes beside the token it gets anyway. */
  readonly accepted: ReadonlyMap<Sequence, number>;
  readonly drafts: DraftCounts | null;
}

/** Draws which draft tokens are right for the requests that decode in a step. None goes beyond a request's limit. */
export function drawDrafts(sequences: readonly Sequence[], speculation: Speculation | null, random: Random): Drafts {
  const accepted = new Map<Sequence, number>();
  if (speculation === null) return { accepted, drafts: null };
  const { draftTokens, acceptanceRatio } = speculation;
  const acceptedByPosition = Array.from({ length: draftTokens }, () => 0);
  for (const sequence of sequences) {
    if (sequence.isPrefilling || sequence.aborted) continue;
    const limit = Math.min(draftTokens, sequence.outputTokens - sequence.generatedTokens - 1);
    let right = 0;
    while (right < limit && random() < acceptanceRatio) {
      acceptedByPosition[right] = (acceptedByPosition[right] ?? 0) + 1;
      right++;
    }
    accepted.set(sequence, right);
  }
  return { accepted, drafts: { sequences: accepted.size, acceptedByPosition } };
}
