import type { Labels } from '../../core/exposition/index.ts';
import { LIVE_GRIDS } from '../../core/measures/grids.ts';
import { figuresOf } from '../../core/measures/request-figures.ts';
import { OTHER_MODELS } from '../../core/run/model-mix.ts';
import { OUTCOMES, type Outcome, type RequestRecord } from '../../core/run/record.ts';
import type { LiveFamily } from './family.ts';
import { INTER_TOKEN_LATENCY, LiveHistogram, REQUEST_LATENCY } from './latency-histograms.ts';

/** What is counted of the measured requests to one model. */
interface ModelTally {
  readonly labels: Labels;
  readonly outcomes: Record<Outcome, number>;
  outputTokens: number;
  readonly timeToFirstToken: LiveHistogram;
  readonly interTokenLatency: LiveHistogram;
  readonly requestLatency: LiveHistogram;
}

const PREFIX = 'llmbench_by_model_';
const HISTOGRAMS = {
  timeToFirstToken: {
    name: `${PREFIX}time_to_first_token_seconds`,
    help: 'Time to first token by the model of the request, observed when the response has ended; measure phase only.',
    grid: LIVE_GRIDS.time_to_first_token,
  },
  interTokenLatency: {
    name: `${PREFIX}inter_token_latency_seconds`,
    help: 'Inter-token latency by the model of the request; one value per ok request, measure phase only.',
    grid: LIVE_GRIDS.inter_token_latency,
  },
  requestLatency: {
    name: `${PREFIX}request_latency_seconds`,
    help: 'Request latency by the model of the request, for ok requests; measure phase only.',
    grid: LIVE_GRIDS.request_latency,
  },
} as const;
type HistogramName = keyof typeof HISTOGRAMS;

/**
 * The requests of the measure phase by model, while a run with several lasts. Families of their own, so that a sum over the
 * other families counts no request twice. All of it comes from the record of a request that has ended: nothing is added to
 * the path of a chunk.
 */
export class ModelMetrics {
  readonly #tallies: ReadonlyMap<string, ModelTally>;

  /** `models`: those that are distinguished; empty: the run has one, and there are no families. */
  constructor(models: readonly string[], labels: Labels) {
    this.#tallies = new Map(models.map((model) => [model, tallyOf({ ...labels, model })]));
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || record.model == null) return;
    const tally = this.#tallies.get(record.model) ?? this.#tallies.get(OTHER_MODELS);
    if (tally !== undefined) count(tally, record);
  }

  get families(): readonly LiveFamily[] {
    const tallies = [...this.#tallies.values()];
    if (tallies.length === 0) return [];
    return [
      {
        name: `${PREFIX}requests_total`,
        help: 'Requests of the measure phase that ended, by the model of the request and by outcome.',
        type: 'counter',
        samples: () =>
          tallies.flatMap(({ labels, outcomes }) =>
            OUTCOMES.map((outcome) => ({ labels: { ...labels, outcome }, value: outcomes[outcome] })),
          ),
      },
      {
        name: `${PREFIX}output_tokens_total`,
        help: 'Output tokens of ended requests of the measure phase by the model of the request, as counted by the server.',
        type: 'counter',
        samples: () => tallies.map(({ labels, outputTokens }) => ({ labels, value: outputTokens })),
      },
      ...this.histograms,
    ];
  }

  get histograms(): readonly LiveFamily[] {
    const tallies = [...this.#tallies.values()];
    if (tallies.length === 0) return [];
    return (Object.keys(HISTOGRAMS) as HistogramName[]).map((each) => ({
      name: HISTOGRAMS[each].name,
      help: HISTOGRAMS[each].help,
      type: 'histogram',
      samples: () => tallies.flatMap((tally) => tally[each].samples()),
    }));
  }
}

function tallyOf(labels: Labels): ModelTally {
  const histogram = (each: HistogramName): LiveHistogram => {
    const { name, help, grid } = HISTOGRAMS[each];
    return new LiveHistogram(name, help, labels, grid);
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

function count(part: ModelTally, record: RequestRecord): void {
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
