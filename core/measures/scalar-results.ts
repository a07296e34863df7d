import type { ScalarResult, SpeculationResult, MeasureResult, PrefixCacheResult } from '../run/result.ts';
import { COST_MEASURES, ENERGY_MEASURES } from './energy-results.ts';
import { GOODPUT_MEASURES } from './goodput.ts';
import type { ScalarMeasure } from './measures.ts';
import { SCALAR_MEASURES, quotient, scalarResult } from './scalar-measures.ts';

/** Sums over the measure phase from which its scalar measures come. `null` is what is not known. */
export interface RunTotals {
  readonly ok: number;
  /** Errors and timeouts; not cancelled ones. */
  readonly failed: number;
  /** From the first request sent to the end of the last; null without requests. */
  readonly windowSeconds: number | null;
  /** Tokens of the ok requests; null when the server did not report them for each. */
  readonly outputTokens: number | null;
  readonly inputTokens: number | null;
  /** Texts that ok requests embedded, scored or ranked; null for generated responses. */
  readonly documents: number | null;
  /** Images in ok requests; null where no requests have images. */
  readonly images: number | null;
  /** Over the ok requests whose usage reports both; null when there is none. */
  readonly cachedInput: { readonly cached: number; readonly prompt: number } | null;
  /** Output tokens that ok requests requested; null when it is not known of each. */
  readonly requestedOutputTokens: number | null;
  /** Ok requests that report both lengths, and those of them that miss by too much. */
  readonly outputLengths: { readonly mismatched: number; readonly known: number };
  /** Requests of whatever outcome of which it is known whether their connection was open already. */
  readonly connections: { readonly reused: number; readonly known: number };
  /** Null when it is unknown. */
  readonly stallRatio: number | null;
  /** Sum over all requests, of whatever outcome, of the time from sent to end. */
  readonly requestSeconds: number;
  /** Null when the load has no planned number in flight. */
  readonly fullLoad: {
    readonly seconds: number;
    readonly okEnded: number;
    /** Null when not every chunk could be read again, or tokens are not known. */
    readonly outputTokens: number | null;
  } | null;
}

type ScalarName = keyof typeof SCALAR_MEASURES;

/** Over which requests a measure is taken; the throughputs and what comes from usage count ok requests. */
const OVER_ALL: ReadonlySet<ScalarName> = new Set(['error_ratio', 'reused_connection_ratio', 'effective_concurrency']);

/** Every scalar measure of a run, `null` where it is not available. */
export function scalarResults(totals: RunTotals): ScalarResult[] {
  const { windowSeconds: window, fullLoad } = totals;
  const values: Record<ScalarName, number | null> = {
    request_throughput: quotient(totals.ok, window),
    output_token_throughput: quotient(totals.outputTokens, window),
    input_token_throughput: quotient(totals.inputTokens, window),
    total_token_throughput: quotient(sum(totals.inputTokens, totals.outputTokens), window),
    document_throughput: quotient(totals.documents, window),
    image_throughput: quotient(totals.images, window),
    steady_request_throughput: quotient(fullLoad?.okEnded ?? null, fullLoad?.seconds ?? null),
    steady_output_token_throughput: quotient(fullLoad?.outputTokens ?? null, fullLoad?.seconds ?? null),
    error_ratio: quotient(totals.failed, totals.ok + totals.failed),
    cached_input_ratio: quotient(totals.cachedInput?.cached ?? null, totals.cachedInput?.prompt ?? null),
    achieved_output_ratio: quotient(totals.outputTokens, totals.requestedOutputTokens),
    output_length_mismatch_count: totals.outputLengths.known === 0 ? null : totals.outputLengths.mismatched,
    stall_ratio: totals.stallRatio,
    reused_connection_ratio: quotient(totals.connections.reused, totals.connections.known),
    effective_concurrency: quotient(totals.requestSeconds, window),
  };
  return (Object.keys(SCALAR_MEASURES) as ScalarName[]).map((name) =>
    scalarResult(SCALAR_MEASURES[name], values[name], { population: OVER_ALL.has(name) ? 'all' : 'ok' }),
  );
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** How much of what a drafter proposed the model kept. The names are vLLM's and SGLang's. */
export const SPECULATION_MEASURES = {
  speculative_acceptance_rate: {
    measure: 'speculative_acceptance_rate',
    unit: 'ratio',
    definition: 'accepted_draft_tokens_over_draft_tokens',
    formula: "accepted ÷ proposed draft tokens, from the servers' counters over the measure phase",
    direction: 'higher',
  },
  speculative_acceptance_length: {
    measure: 'speculative_acceptance_length',
    unit: 'tokens',
    definition: 'accepted_draft_tokens_over_drafts_plus_one',
    formula:
      "accepted draft tokens ÷ drafts + 1, the token that the model itself gives after each draft, from the servers' counters over the measure phase",
    direction: 'higher',
  },
} as const satisfies Record<string, ScalarMeasure>;

/** The measures of a run; none when no server counts drafts. Both are null when none was proposed. */
export function speculationResults(counts: SpeculationResult | null): ScalarResult[] {
  if (counts === null) return [];
  const { drafts, draft_tokens, accepted_tokens } = counts;
  const perDraft = quotient(accepted_tokens, drafts);
  const over = { origin: 'server', population: 'all' } as const;
  return [
    scalarResult(SPECULATION_MEASURES.speculative_acceptance_rate, quotient(accepted_tokens, draft_tokens), over),
    scalarResult(SPECULATION_MEASURES.speculative_acceptance_length, perDraft === null ? null : perDraft + 1, over),
  ];
}

/** Share of the drafts whose token at each position was accepted; null when it is not known, or nothing was drafted. */
export function acceptanceByPosition({ drafts, accepted_by_position: accepted }: SpeculationResult): number[] | null {
  return accepted === null || drafts <= 0 ? null : accepted.map((tokens) => tokens / drafts);
}

/** What stands in a run's measures and comes from its servers' own counters. */
export const SERVER_MEASURES = {
  server_cached_input_ratio: {
    measure: 'server_cached_input_ratio',
    unit: 'ratio',
    definition: 'server_cached_prompt_tokens_over_prompt_tokens',
    formula: "cached prompt tokens ÷ prompt tokens, from the servers' counters over the measure phase",
    direction: 'none',
  },
  ...SPECULATION_MEASURES,
} as const satisfies Record<string, ScalarMeasure>;

/** What the plan of a run makes possible. */
export const PLAN_MEASURES = {
  possible_cached_input_ratio: {
    measure: 'possible_cached_input_ratio',
    unit: 'ratio',
    definition: 'planned_reusable_prompt_tokens_over_planned_prompt_tokens_in_whole_blocks',
    formula:
      'prompt tokens that a prefix cache of unlimited size would hold, because an earlier request of the plan had them, in whole blocks ÷ prompt tokens',
    direction: 'none',
  },
} as const satisfies Record<string, ScalarMeasure>;

/** What the servers reported; null is what is not known. */
export interface ServerTotals {
  readonly cachedInputRatio: number | null;
  /** Why their caches may have served less than possible, a line each; absent: they say nothing. */
  readonly cacheSigns?: readonly string[];
  /** Null or absent when no server counts drafts. */
  readonly speculation?: SpeculationResult | null;
}

export function serverResults({ cachedInputRatio, speculation = null }: ServerTotals): ScalarResult[] {
  const over = { origin: 'server', population: 'all' } as const;
  return [
    scalarResult(SERVER_MEASURES.server_cached_input_ratio, cachedInputRatio, over),
    ...speculationResults(speculation),
  ];
}

/** Of servers, and yet published and judged like the client's measures. */
export const JUDGED_OF_SERVERS: ReadonlySet<string> = new Set(
  [ENERGY_MEASURES, SPECULATION_MEASURES].flatMap((measures) => Object.keys(measures)),
);

/** Every measure of a run that is one number: of its requests, of its goodput, of drafts, of the GPUs' energy and of their cost. */
export const RUN_SCALARS: readonly ScalarMeasure[] = [
  SCALAR_MEASURES,
  GOODPUT_MEASURES,
  SPECULATION_MEASURES,
  ENERGY_MEASURES,
  COST_MEASURES,
].flatMap((measures) => Object.values<ScalarMeasure>(measures));

/** What a prefix cache of unlimited size would have held of the prompts of a run, in planned tokens. */
export interface PlannedReuse {
  readonly cached: number;
  readonly prompt: number;
  /** Tokens of a block: only whole blocks are reused. */
  readonly blockTokens: number;
}

/** The share as a measure; none when the plan does not know it. */
export function plannedReuseResults(reuse: PlannedReuse | null): ScalarResult[] {
  if (reuse === null) return [];
  return [scalarResult(PLAN_MEASURES.possible_cached_input_ratio, reuse.cached / reuse.prompt, { population: 'all' })];
}

/** A measured share that is lower than the possible one by more than this is explained. */
const FAR_BELOW = 0.05;

/** The possible share beside the measured ones, and why they are far below it. `signs`: what the servers say, a line each. */
export function prefixCacheResult(
  { cached, prompt, blockTokens }: PlannedReuse,
  measures: readonly MeasureResult[],
  signs: readonly string[],
): PrefixCacheResult {
  const ratioOf = (name: string): number | null => {
    const found = measures.find(({ measure }) => measure === name);
    return found?.kind === 'scalar' ? found.value : null;
  };
  const possible = cached / prompt;
  const usage = ratioOf('cached_input_ratio');
  const servers = ratioOf(SERVER_MEASURES.server_cached_input_ratio.measure);
  const measured = servers ?? usage;
  const isFarBelow = measured !== null && possible - measured > FAR_BELOW;
  return {
    block_tokens: blockTokens,
    possible_ratio: possible,
    usage_ratio: usage,
    server_ratio: servers,
    why: isFarBelow ? (signs.length > 0 ? signs : [NO_SIGN]) : [],
  };
}

const NO_SIGN = 'the servers report no eviction, and nothing else that explains it';
