import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type { EngineState, EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { RespondedRequest, ServerProfile } from '../server-profile.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { setConfiguration } from './config-metrics.ts';
import { TrtllmDraftMetrics } from './draft-metrics.ts';
import { DynamoWorkerMetrics } from './dynamo-worker-metrics.ts';
import { TrtllmFamilies } from './families.ts';
import { IterationLog } from './iteration-log.ts';
import { TrtllmIterationMetrics } from './iteration-metrics.ts';
import { IterationCounter } from './iteration.ts';
import { commonLabels, processIds } from './labels.ts';
import type { ProcessIds } from './labels.ts';
import { TrtllmRequestMetrics } from './request-metrics.ts';

/** `tensor_parallel_size` of the server that is simulated: a rank per GPU, each an executor process. */
const RANKS = 2;

/** What trtllm-serve shows: the page of `/prometheus/metrics` and the rows of `/metrics`. */
export class TrtllmProfile implements ServerProfile {
  readonly ownedBy = 'tensorrt_llm';
  readonly metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly responses = systemResponses(DIALECTS.trtllm);
  readonly #families = new TrtllmFamilies();
  readonly #modelName: string;
  readonly #ids: ProcessIds = processIds(RANKS);
  readonly #counter: IterationCounter;
  readonly #perIteration: readonly [TrtllmIterationMetrics, TrtllmDraftMetrics, IterationLog];
  readonly #requests: TrtllmRequestMetrics;
  readonly #worker: DynamoWorkerMetrics;

  constructor(modelName: string, parameters: EngineParameters, wallSeconds: () => number = () => Date.now() / 1000) {
    const families = this.#families;
    this.#modelName = modelName;
    this.#counter = new IterationCounter(parameters);
    this.#perIteration = [
      new TrtllmIterationMetrics(families, modelName, parameters, this.#ids),
      new TrtllmDraftMetrics(families, modelName, parameters),
      new IterationLog(parameters, wallSeconds),
    ];
    this.#requests = new TrtllmRequestMetrics(families, modelName);
    this.#worker = new DynamoWorkerMetrics(modelName);
    setConfiguration(families, modelName, parameters, this.#ids);
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      this.#requests.observe(event);
      this.#worker.observe(event);
    }
    for (const iteration of this.#counter.observe(events)) {
      for (const observer of this.#perIteration) observer.observe(iteration);
    }
  }

  responded({ handler, status }: RespondedRequest): void {
    if (handler === '/v1/chat/completions' && status === 400) this.#requests.refused(status);
  }

  metricsPage(state: EngineState): string {
    for (const [rank, pid] of this.#ids.ranks.entries()) {
      const labels = { ...commonLabels(this.#modelName), rank: `${rank}`, pid };
      // Both ranks run the same batch.
      this.#families.gauge('trtllm_scheduled_batch_size').series(labels).value = state.running;
    }
    return writePage(this.#families.all(), FORMATS.PYTHON_MULTIPROCESS);
  }

  /** The rows of iteration statistics that have not been read yet, as JSON. */
  drainIterations(): string {
    return this.#perIteration[2].drain();
  }

  /** The page of a Dynamo worker around the same engine. */
  workerPage(): string {
    return this.#worker.page();
  }
}
