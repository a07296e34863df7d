import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type { EngineState, EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { RespondedRequest, ServerProfile } from '../server-profile.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { SglangCacheMetrics } from './cache-metrics.ts';
import { SglangFamilies } from './families.ts';
import { SglangRequestMetrics } from './request-metrics.ts';
import { SglangSchedulerMetrics } from './scheduler-metrics.ts';
import { SglangStateMetrics } from './state-metrics.ts';
import { SglangSwitchMetrics } from './switch-metrics.ts';
import { schedulerLabels } from './labels.ts';

interface SglangProfileOptions {
  readonly modelName: string;
  readonly parameters: EngineParameters;
  /** Whether the server has the switches on that show further families. Default true. */
  readonly switches?: boolean;
}

/** The metrics page of an SGLang 0.5.23 engine started with `--enable-metrics` and `--enable-hierarchical-cache`. */
export class SglangProfile implements ServerProfile {
  readonly ownedBy = 'sglang';
  readonly metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly responses = systemResponses(DIALECTS.sglang);
  readonly #families = new SglangFamilies();
  readonly #modelName: string;
  readonly #scheduler: SglangSchedulerMetrics;
  readonly #state: SglangStateMetrics;
  readonly #switches: SglangSwitchMetrics | null;
  readonly #observers: readonly { observe(event: EngineEvent): void }[];

  constructor({ modelName, parameters, switches = true }: SglangProfileOptions) {
    const families = this.#families;
    this.#modelName = modelName;
    this.#scheduler = new SglangSchedulerMetrics(families, modelName);
    this.#state = new SglangStateMetrics(families, modelName, parameters, this.#scheduler);
    this.#switches = switches ? new SglangSwitchMetrics(families, modelName) : null;
    this.#observers = [
      this.#scheduler,
      this.#state,
      new SglangRequestMetrics(families, modelName),
      new SglangCacheMetrics(families, parameters),
      ...(this.#switches === null ? [] : [this.#switches]),
    ];
    this.#addDataParallelFamilies(schedulerLabels(modelName));
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) for (const observer of this.#observers) observer.observe(event);
  }

  responded({ handler, seconds }: RespondedRequest): void {
    if (handler === '/v1/loads') this.#switches?.loadsAnswered(seconds, this.#modelName);
  }

  metricsPage(state: EngineState): string {
    this.#scheduler.update(state);
    this.#state.update(state);
    return writePage(this.#families.all(), FORMATS.PYTHON_MULTIPROCESS);
  }

  /** There from the start in every mode; they move with data-parallel attention only, which the simulator has not. */
  #addDataParallelFamilies(labels: Record<string, string>): void {
    for (const name of ['token_imbalance_ratio', 'sync_wait_seconds']) {
      this.#families.histogram(`sglang:dp_attention_${name}`).series(labels);
    }
    for (const [name, label] of [
      ['tokens_total', 'kind'],
      ['pairs_total', 'kind'],
      ['steps_total', 'rank_state'],
    ] as const) {
      const family = `sglang:dp_attention_${name}`;
      for (const value of this.#families.labelValues(family, label)) {
        this.#families.counter(family).series({ ...labels, [label]: value });
      }
    }
  }
}
