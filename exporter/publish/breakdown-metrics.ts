import type { Labels } from '../../core/exposition/index.ts';
import { breakdownsOf, modelKey, TURN_KEYS } from '../../core/measures/breakdown.ts';
import { LIVE_GRIDS } from '../../core/measures/grids.ts';
import { figuresOf } from '../../core/measures/request-figures.ts';
import { OUTCOMES, type Outcome, type RequestRecord } from '../../core/run/record.ts';
import type { BreakdownKey } from '../../core/run/result.ts';
import type { LiveFamily } from './family.ts';
import { INTER_TOKEN_LATENCY, LiveHistogram, REQUEST_LATENCY } from './latency-histograms.ts';

type BreakdownBy = BreakdownKey['by'];

/** What is counted of the measured requests of one population. */
interface Tally {
  readonly labels: Labels;
  readonly outcomes: Record<Outcome, number>;
  outputTokens: number;
  readonly timeToFirstToken: LiveHistogram;
  readonly interTokenLatency: LiveHistogram;
  readonly requestLatency: LiveHistogram;
}

const HISTOGRAMS = {
  timeToFirstToken: {
    suffix: 'time_to_first_token_seconds',
    help: 'Time to first token, observed when the response has ended',
    grid: LIVE_GRIDS.time_to_first_token,
  },
  interTokenLatency: {
    suffix: 'inter_token_latency_seconds',
    help: 'Inter-token latency, one value per ok request',
    grid: LIVE_GRIDS.inter_token_latency,
  },
  requestLatency: {
    suffix: 'request_latency_seconds',
    help: 'Request latency of ok requests',
    grid: LIVE_GRIDS.request_latency,
  },
} as const;
type HistogramName = keyof typeof HISTOGRAMS;

const WORDS: Readonly<Record<BreakdownBy, string>> = {
  model: 'the model of the request',
  turn: 'turn of the conversation (first, later)',
};

/**
 * The requests of the measure phase by model and by turn, while a run with several models or with conversations lasts.
 * Families of their own, so that a sum over the other families counts no request twice. All of it comes from the record
 * of a request that has ended: nothing is added to the path of a chunk.
 */
export class BreakdownMetrics {
  readonly #models: readonly string[];
  readonly #dimensions: readonly (readonly [by: BreakdownBy, tallies: ReadonlyMap<string, Tally>])[];

  /**
   * `models`: those that are distinguished; empty: the run has one, and there are no families of models. Likewise no
   * families of turns without conversations. Of turns there are two classes, however long the conversations.
   */
  constructor(models: readonly string[], hasConversations: boolean, labels: Labels) {
    this.#models = models;
    const keys = [...models.map(modelKey), ...(hasConversations ? TURN_KEYS : [])];
    this.#dimensions = (['model', 'turn'] as const).flatMap((by) => {
      const values = keys.filter((key) => key.by === by).map(({ value }) => value);
      const tallies = new Map(values.map((value) => [value, tallyOf(by, { ...labels, [by]: value })]));
      return tallies.size === 0 ? [] : [[by, tallies] as const];
    });
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || this.#dimensions.length === 0) return;
    const keys = breakdownsOf(record, this.#models);
    for (const [by, tallies] of this.#dimensions) {
      for (const key of keys) {
        const tally = key.by === by ? tallies.get(key.value) : undefined;
        if (tally !== undefined) count(tally, record);
      }
    }
  }

  get families(): readonly LiveFamily[] {
    return this.#dimensions.flatMap(([by, tallies]) => [
      {
        name: `${prefix(by)}requests_total`,
        help: `Requests of the measure phase that ended, by ${WORDS[by]} and by outcome.`,
        type: 'counter' as const,
        samples: () =>
          [...tallies.values()].flatMap(({ labels, outcomes }) =>
            OUTCOMES.map((outcome) => ({ labels: { ...labels, outcome }, value: outcomes[outcome] })),
          ),
      },
      {
        name: `${prefix(by)}output_tokens_total`,
        help: `Output tokens of ended requests of the measure phase by ${WORDS[by]}, as counted by the server.`,
        type: 'counter' as const,
        samples: () => [...tallies.values()].map(({ labels, outputTokens }) => ({ labels, value: outputTokens })),
      },
      ...histogramsOf(by, tallies),
    ]);
  }

  get histograms(): readonly LiveFamily[] {
    return this.#dimensions.flatMap(([by, tallies]) => histogramsOf(by, tallies));
  }
}

const prefix = (by: BreakdownBy): string => `llmbench_by_${by}_`;

function histogramsOf(by: BreakdownBy, tallies: ReadonlyMap<string, Tally>): readonly LiveFamily[] {
  return (Object.keys(HISTOGRAMS) as HistogramName[]).map((each) => ({
    name: `${prefix(by)}${HISTOGRAMS[each].suffix}`,
    help: `${HISTOGRAMS[each].help}, by ${WORDS[by]}; measure phase only.`,
    type: 'histogram',
    samples: () => [...tallies.values()].flatMap((tally) => tally[each].samples()),
  }));
}

function tallyOf(by: BreakdownBy, labels: Labels): Tally {
  const histogram = (each: HistogramName): LiveHistogram => {
    const { suffix, help, grid } = HISTOGRAMS[each];
    return new LiveHistogram(`${prefix(by)}${suffix}`, help, labels, grid);
  };
  return {
    labels,
    outcomes: { ok: 0, error: 0, timeout: 0, cancelled: 0 },
    outputTokens: 0,
    timeToFirstToken: histogram('timeToFirstToken'),
    interTokenLatency: histogram('interTokenLatency'),
    requestLatency: histogram('requestLatency'),
  };
}

function count(part: Tally, record: RequestRecord): void {
  part.outcomes[record.outcome] += 1;
  part.outputTokens += record.output_tokens ?? 0;
  const { first_content_ns, sent_ns } = record;
  if (first_content_ns !== null) part.timeToFirstToken.observe((first_content_ns - sent_ns) / 1e9);
  if (record.outcome !== 'ok') return;
  const figures = figuresOf(record);
  const interToken = INTER_TOKEN_LATENCY.value(figures);
  const latency = REQUEST_LATENCY.value(figures);
  if (interToken !== null) part.interTokenLatency.observe(interToken);
  if (latency !== null) part.requestLatency.observe(latency);
}
