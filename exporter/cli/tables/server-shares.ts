import type { SeriesSummary } from '../../servers/files/servers-file.ts';
import { quantity, significant } from '../../../core/text/quantities.ts';

/** Counters of a part and its whole, by system. */
const SHARES = [
  ['prefix cache hits', 'vllm:prefix_cache_hits_total', 'vllm:prefix_cache_queries_total', 'tokens'],
  ['external prefix cache hits', 'vllm:external_prefix_cache_hits_total', 'vllm:external_prefix_cache_queries_total', 'tokens'],
  ['speculative tokens accepted', 'vllm:spec_decode_num_accepted_tokens_total', 'vllm:spec_decode_num_draft_tokens_total', 'tokens'],
  ['speculative tokens accepted', 'trtllm_spec_decode_num_accepted_tokens_total', 'trtllm_spec_decode_num_draft_tokens_total', 'tokens'],
] as const; // prettier-ignore

/** Speculative decoding and cache hits as shares of what they are of; systems that report them as gauges have those. */
export function serverShares(series: readonly SeriesSummary[]): string[] {
  return SHARES.flatMap(([name, part, whole, unit]) => {
    const [hits, all] = [increase(series, part), increase(series, whole)];
    if (hits === null || all === null || all === 0) return [];
    return [`${name}: ${quantity(hits / all, 'ratio')} (${significant(hits)} of ${significant(all)} ${unit})`];
  });
}

/** Null: the target does not have the counter, or what it gained is unknown for one of its series. */
function increase(series: readonly SeriesSummary[], family: string): number | null {
  const gains = series.filter((each) => each.family === family).map(({ statistics }) => statistics);
  if (gains.length === 0) return null;
  return gains.reduce<number | null>((sum, gain) => {
    const value = gain?.kind === 'counter' ? gain.increase : null;
    return sum === null || value === null ? null : sum + value;
  }, 0);
}
