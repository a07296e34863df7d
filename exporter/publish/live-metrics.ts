import type { Registry } from 'prom-client';
import {
  CONTENT_TYPES,
  exemplarText,
  seriesStart,
  valueText,
  type Labels,
  type SampleInput,
  type FamilyInput,
  type PageFormat,
} from '../../core/exposition/index.ts';
import { LIVE_GRIDS } from '../../core/measures/grids.ts';
import { stageLoadText } from '../../core/run/load.ts';
import {
  ERROR_REASONS,
  OUTCOMES,
  PHASES,
  type ErrorReason,
  type Outcome,
  type PhaseName,
  type RequestRecord,
} from '../../core/run/record.ts';
import type { RunEvents } from '../../core/run/run-output.ts';
import { type RunFile, distinguishedModels } from '../../core/run/run.ts';
import { BreakdownMetrics } from './breakdown-metrics.ts';
import { readFamilies, registryOf, type LiveFamily } from './family.ts';
import { LatencyHistograms, LiveHistogram } from './latency-histograms.ts';
import {
  keptFamily,
  pagePieces,
  negotiateFormat,
  type KeptFamily,
  type RenderedPage,
  type MetricsPage,
} from './metrics-page.ts';
import {
  BUILD_INFO,
  RUN_INFO,
  runInfoLabels,
  SERIES_DROPPED,
  stagesOf,
  PHASE_END,
  PHASE_START,
  PLANNED_REQUESTS,
  PLANNED_SECONDS,
  RUN_PHASE,
  RUN_STAGE,
  STAGE_END,
  STAGE_START,
  type LiveRunFacts,
} from './run-info.ts';
import type { RunFamily, LiveSource } from './served-page.ts';
import { LiveTargets, RUN_TARGETS, RUN_TARGET_INFO, type ScrapedTarget } from './target-info.ts';

/** Types of endpoints whose requests have texts to read. */
const READ_TEXTS: ReadonlySet<string> = new Set([
  'embeddings',
  'pooling',
  'rerank',
  'score',
  'tei_rerank',
  'nim_ranking',
]);

/** What is counted of one phase. */
interface PhaseCounts {
  active: boolean;
  /** Wall time of its edges, seconds since the epoch; 0 while it has not begun or ended. */
  start_seconds: number;
  end_seconds: number;
  readonly outcomes: Record<Outcome, number>;
  readonly reasons: Record<ErrorReason, number>;
  inputTokens: number;
  outputTokens: number;
  chunks: number;
  documents: number;
  images: number;
  audio_ns: number;
}

/** A part of a run that begins and ends once. */
type Period = Pick<PhaseCounts, 'active' | 'start_seconds' | 'end_seconds'>;

/** The counters and gauges of a run: plain numbers that are read at a scrape. */
class RunTally {
  readonly phases: Readonly<Record<PhaseName, PhaseCounts>> = {
    warmup: emptyTally(),
    measure: emptyTally(),
    cooldown: emptyTally(),
  };
  /** Of each stage of the load. */
  readonly stages: readonly Period[];
  inFlight = 0;
  goodRequests = 0;
  clientSaturated = false;
  readonly #start_ms: number;
  readonly #isGood: ((record: RequestRecord) => boolean) | null;

  /** `start_ms` is the wall time of the run's monotonic zero; `isGood` says whether an ok request met the SLOs. */
  constructor(start_ms: number, isGood: ((record: RequestRecord) => boolean) | null, stages: number) {
    this.stages = Array.from({ length: stages }, () => ({ active: false, start_seconds: 0, end_seconds: 0 }));
    this.#start_ms = start_ms;
    this.#isGood = isGood;
  }

  begin(period: Period | undefined, at_ns: number): void {
    if (period !== undefined) Object.assign(period, { active: true, start_seconds: this.#wallSeconds(at_ns) });
  }

  end(period: Period | undefined, at_ns: number): void {
    if (period !== undefined) Object.assign(period, { active: false, end_seconds: this.#wallSeconds(at_ns) });
  }

  requestEnded(record: RequestRecord): void {
    this.inFlight -= 1;
    const tally = this.phases[record.phase];
    tally.outcomes[record.outcome] += 1;
    if (record.reason !== null) tally.reasons[record.reason] += 1;
    tally.inputTokens += record.input_tokens ?? 0;
    tally.outputTokens += record.output_tokens ?? 0;
    if (record.outcome === 'ok') {
      tally.documents += record.documents ?? 0;
      tally.images += record.images ?? 0;
      tally.audio_ns += record.audio_ns ?? 0;
    }
    if (record.phase === 'measure' && record.outcome === 'ok' && this.#isGood?.(record) === true)
      this.goodRequests += 1;
  }

  /** Whole microseconds: a double holds no more of a date. */
  #wallSeconds(at_ns: number): number {
    return Math.round(this.#start_ms * 1e3 + at_ns / 1e3) / 1e6;
  }
}

function emptyTally(): PhaseCounts {
  return {
    active: false,
    start_seconds: 0,
    end_seconds: 0,
    outcomes: zeros(OUTCOMES),
    reasons: zeros(ERROR_REASONS),
    inputTokens: 0,
    outputTokens: 0,
    chunks: 0,
    documents: 0,
    images: 0,
    audio_ns: 0,
  };
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}

const NOT_BEGUN: Period = { active: false, start_seconds: 0, end_seconds: 0 };

/**
 * The families of a run that is under way, in the order of the metric contract. `llmbench_run_info` comes from shard 0
 * alone, so that a run has it once. The phase `cooldown` is there only when the run has one, and goodput only when there
 * are SLOs: without them 0 would be a lie.
 */
function liveFamilies(
  facts: LiveRunFacts,
  labels: Labels,
  tally: RunTally,
  targets: LiveTargets,
  histograms: readonly LiveFamily[],
): readonly LiveFamily[] {
  const { run, version, isGood, hasClient = true, respondingTargets } = facts;
  const one = (value: number, own: Labels = labels): readonly SampleInput[] => [{ labels: own, value }];
  const phases = PHASES.filter((phase) => phase !== 'cooldown' || run.comparison_key.cool_down === true);
  const perPhase = (read: (phase: PhaseCounts) => number) => () =>
    phases.map((phase) => ({ labels: { ...labels, phase }, value: read(tally.phases[phase]) }));
  const stages = stagesOf(run).map((stage, i) => ({
    labels: { ...labels, stage: String(i + 1), load: stageLoadText(stage) },
    i,
  }));
  const perStage = (read: (stage: Period) => number) => () =>
    stages.map(({ labels: own, i }) => ({ labels: own, value: read(tally.stages[i] ?? NOT_BEGUN) }));
  const perPhaseAnd = <K extends string>(
    label: string,
    keys: readonly K[],
    read: (phase: PhaseCounts, key: K) => number,
  ) => {
    const series = phases.flatMap((phase) =>
      keys.map((key) => ({ phase, key, labels: { ...labels, phase, [label]: key } })),
    );
    return () => series.map(({ phase, key, labels: own }) => ({ labels: own, value: read(tally.phases[phase], key) }));
  };
  const counter = (name: string, help: string, samples: LiveFamily['samples']): LiveFamily => ({
    name,
    help,
    type: 'counter',
    samples,
  });

  const ofRun: readonly LiveFamily[] = [
    { ...BUILD_INFO, samples: () => one(1, { version }), ofProcess: true },
    ...(run.shard === '0' ? [{ ...RUN_INFO, samples: () => one(1, runInfoLabels(run)) }] : []),
    ...(run.shard === '0' ? plannedFamilies(run) : []),
    { ...RUN_TARGET_INFO, samples: () => targets.samples },
    ...(respondingTargets === undefined ? [] : [{ ...RUN_TARGETS, samples: () => one(respondingTargets()) }]),
    { ...RUN_PHASE, samples: perPhase(({ active }) => Number(active)) },
    { ...PHASE_START, samples: perPhase((phase) => phase.start_seconds) },
    { ...PHASE_END, samples: perPhase((phase) => phase.end_seconds) },
  ];
  const dropped: LiveFamily = { ...SERIES_DROPPED, samples: () => one(targets.dropped, {}), ofProcess: true };
  if (!hasClient) return [...ofRun, dropped];
  const ofStages: readonly LiveFamily[] = [
    { ...RUN_STAGE, samples: perStage(({ active }) => Number(active)) },
    { ...STAGE_START, samples: perStage((stage) => stage.start_seconds) },
    { ...STAGE_END, samples: perStage((stage) => stage.end_seconds) },
  ];
  return [
    ...ofRun,
    ...(stages.length === 0 ? [] : ofStages),
    counter(
      'llmbench_requests_total',
      'Requests ended, by outcome.',
      perPhaseAnd('outcome', OUTCOMES, (phase, outcome) => phase.outcomes[outcome]),
    ),
    counter(
      'llmbench_request_errors_total',
      'Requests that ended with an outcome other than ok, by the first matching reason.',
      perPhaseAnd('reason', ERROR_REASONS, (phase, reason) => phase.reasons[reason]),
    ),
    ...(isGood === undefined
      ? []
      : [
          counter(
            'llmbench_good_requests_total',
            'Requests of the measure phase that ended ok and within every SLO.',
            () => one(tally.goodRequests),
          ),
        ]),
    counter(
      'llmbench_input_tokens_total',
      'Prompt tokens of ended requests, as counted by the server.',
      perPhase((phase) => phase.inputTokens),
    ),
    counter(
      'llmbench_output_tokens_total',
      'Output tokens of ended requests, as counted by the server, including reasoning.',
      perPhase((phase) => phase.outputTokens),
    ),
    counter(
      'llmbench_chunks_total',
      'Chunks with content received.',
      perPhase((phase) => phase.chunks),
    ),
    ...(READ_TEXTS.has(run.comparison_key.endpoint_type ?? '')
      ? [
          counter(
            'llmbench_documents_total',
            'Texts that ok requests embedded, scored or ranked.',
            perPhase((phase) => phase.documents),
          ),
        ]
      : []),
    ...(run.dataset?.images === undefined
      ? []
      : [
          counter(
            'llmbench_images_total',
            'Images in ok requests, those of earlier turns included.',
            perPhase((phase) => phase.images),
          ),
        ]),
    ...(run.dataset?.audio === undefined
      ? []
      : [
          counter(
            'llmbench_audio_seconds_total',
            'Length of the audio in ok requests, that of earlier turns included.',
            perPhase((phase) => phase.audio_ns / 1e9),
          ),
        ]),
    {
      name: 'llmbench_requests_in_flight',
      help: 'Requests sent whose response is not complete.',
      type: 'gauge',
      samples: () => one(tally.inFlight),
    },
    ...histograms,
    {
      name: 'llmbench_client_saturated',
      help: '1 if this client may limit the measurement (saturated), else 0.',
      type: 'gauge',
      samples: () => one(Number(tally.clientSaturated)),
    },
    dropped,
  ];
}

/** Of the whole run, whatever its shards: what a share of it is measured against. */
function plannedFamilies({ run_id, comparison_key: { stop } }: RunFile): LiveFamily[] {
  const planned = [
    [PLANNED_REQUESTS, stop.request_count],
    [PLANNED_SECONDS, stop.benchmark_duration_seconds],
  ] as const;
  return planned.flatMap(([family, value]) =>
    value === null ? [] : [{ ...family, samples: () => [{ labels: { run_id }, value }] }],
  );
}

/** The live families of the metric contract for one run: an observer of it, and a page that can be scraped. */
export interface LiveMetrics extends Required<RunEvents>, MetricsPage, LiveSource {
  /** What the page shows, for those who send it themselves. */
  readonly families: readonly LiveFamily[];
  render(accept: string | undefined): Promise<RenderedPage>;
  /** After the last request: whether this process may be what was measured. */
  end(saturated: boolean): void;
  /** Which metrics pages have been read so far. */
  targetsRead(targets: readonly ScrapedTarget[]): void;
}

/**
 * The live metrics of a run, in a registry of their own. Every series exists from the start, at 0. Throws a `RangeError`
 * for a run that has no start, such as an import: it has no live metrics.
 */
export function createLiveMetrics(facts: LiveRunFacts): LiveMetrics {
  return new RegistryLiveMetrics(facts);
}

class RegistryLiveMetrics implements LiveMetrics {
  readonly families: readonly LiveFamily[];
  readonly #tally: RunTally;
  readonly #targets: LiveTargets;
  readonly #latencies: LatencyHistograms;
  readonly #breakdown: BreakdownMetrics;
  readonly #eventLoopDelay: LiveHistogram;
  readonly #registry: Registry;
  readonly #histograms: ReadonlyMap<string, HistogramText>;
  readonly #ofProcess: ReadonlySet<string>;

  constructor(facts: LiveRunFacts) {
    const labels = { run_id: facts.run.run_id, shard: facts.run.shard };
    this.#tally = new RunTally(startOf(facts.run), facts.isGood ?? null, stagesOf(facts.run).length);
    this.#targets = new LiveTargets(labels);
    this.#latencies = new LatencyHistograms('llmbench_', labels, startOf(facts.run));
    this.#eventLoopDelay = new LiveHistogram(
      'llmbench_client_event_loop_delay_seconds',
      'Delay of a timer of the client, sampled during the measure phase.',
      labels,
      LIVE_GRIDS.client_event_loop_delay,
    );
    const models = distinguishedModels(facts.run.comparison_key.model_mix);
    this.#breakdown = new BreakdownMetrics(models, facts.hasConversations ?? false, labels);
    const histograms = [...this.#latencies.families, this.#eventLoopDelay, ...this.#breakdown.histograms];
    const families = [...this.#latencies.families, this.#eventLoopDelay, ...this.#breakdown.families];
    this.families = liveFamilies(facts, labels, this.#tally, this.#targets, families);
    this.#registry = registryOf(this.families);
    this.#histograms = new Map(histograms.map(({ name }) => [name, new HistogramText()]));
    this.#ofProcess = new Set(this.families.filter(({ ofProcess }) => ofProcess).map(({ name }) => name));
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#tally.begin(this.#tally.phases[phase], at_ns);
  }

  phaseEnded(phase: PhaseName, at_ns: number): void {
    this.#tally.end(this.#tally.phases[phase], at_ns);
  }

  stageStarted(stage: number, at_ns: number): void {
    this.#tally.begin(this.#tally.stages[stage - 1], at_ns);
  }

  stageEnded(stage: number, at_ns: number): void {
    this.#tally.end(this.#tally.stages[stage - 1], at_ns);
  }

  requestSent(phase: PhaseName, due_ns: number, sent_ns: number): void {
    this.#tally.inFlight += 1;
    if (phase === 'measure') this.#latencies.requestSent(sent_ns - due_ns);
  }

  firstContent(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void {
    this.#tally.phases[phase].chunks += 1;
    if (phase === 'measure') this.#latencies.firstContent(sinceSent_ns, sinceDue_ns);
  }

  chunkGap(phase: PhaseName, gap_ns: number): void {
    this.#tally.phases[phase].chunks += 1;
    if (phase === 'measure') this.#latencies.chunkGap(gap_ns);
  }

  requestEnded(record: RequestRecord): void {
    this.#tally.requestEnded(record);
    this.#breakdown.requestEnded(record);
    if (record.phase === 'measure') this.#latencies.requestEnded(record);
  }

  eventLoopDelay(delay_ns: number): void {
    if (this.#tally.phases.measure.active) this.#eventLoopDelay.observe(delay_ns / 1e9);
  }

  clientSaturated(saturated: boolean): void {
    this.#tally.clientSaturated = saturated;
  }

  end(saturated: boolean): void {
    this.clientSaturated(saturated);
  }

  targetsRead(targets: readonly ScrapedTarget[]): void {
    this.#targets.read(targets);
  }

  async render(accept: string | undefined): Promise<RenderedPage> {
    const format = negotiateFormat(accept);
    const body = Buffer.concat(pagePieces(await this.lines(), format)).toString();
    return { contentType: CONTENT_TYPES[format], body };
  }

  async lines(): Promise<readonly RunFamily[]> {
    const families = await readFamilies(this.#registry);
    return families.map((family) => ({
      ...(this.#histograms.get(family.name)?.write(family) ?? keptFamily(family)),
      ofProcess: this.#ofProcess.has(family.name),
    }));
  }
}

/** Wall time of the run's monotonic zero, in milliseconds since the epoch. */
function startOf(run: RunFile): number {
  const start = run.start === null ? NaN : Date.parse(run.start);
  if (Number.isNaN(start)) throw new RangeError(`run ${run.run_id} has no start: it has no live metrics`);
  return start;
}

/**
 * Writes one histogram again and again: its series and their order never change, so that names and labels, most of the
 * work, are written only once.
 */
class HistogramText {
  #starts: readonly string[] | null = null;

  /** Throws an `ExpositionWriteError` when the family cannot be written. */
  write({ name, help, type, samples }: FamilyInput): KeptFamily {
    this.#starts ??= samples.map(
      ({ metricName = name, labels, sharedLabels }) => `${seriesStart(metricName, { ...sharedLabels, ...labels })} `,
    );
    const lines = (format?: PageFormat): Buffer => {
      let text = '';
      for (const [i, { value, exemplar }] of samples.entries())
        text += `${this.#starts?.[i] ?? ''}${valueText(value)}${format === 'openmetrics' ? exemplarText(exemplar) : ''}\n`;
      return Buffer.from(text);
    };
    const hasExemplars = samples.some(({ exemplar }) => exemplar !== undefined);
    return {
      name,
      help,
      type,
      lines: lines(),
      ...(hasExemplars ? { openMetricsLines: lines('openmetrics') } : {}),
      series: samples.length,
    };
  }
}
