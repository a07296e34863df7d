import type { EngineState } from '../engine/engine.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { AnsweredRequest, Face } from '../face.ts';
import { pythonPage } from '../metrics/python-page.ts';
import { VllmEngineMetrics } from './engine-metrics.ts';
import { VllmFamilies } from './families.ts';
import { VllmHttpMetrics } from './http-metrics.ts';
import { ProcessMetrics } from './process-metrics.ts';

/** The metrics page of vLLM 0.32.0 with one engine and one API server process. */
export class VllmFace implements Face {
  readonly ownedBy = 'vllm';
  /** Whatever the scraper asks for. */
  readonly metricsContentType = 'text/plain; version=1.0.0; charset=utf-8';
  readonly #families: VllmFamilies;
  readonly #engine: VllmEngineMetrics;
  readonly #http: VllmHttpMetrics;
  readonly #process: ProcessMetrics;

  constructor(modelName: string, parameters: EngineParameters, wallSeconds: () => number = () => Date.now() / 1000) {
    this.#families = new VllmFamilies(parameters.maxModelLen, wallSeconds);
    this.#engine = new VllmEngineMetrics(this.#families, modelName, parameters);
    this.#http = new VllmHttpMetrics(this.#families);
    this.#process = new ProcessMetrics(this.#families);
  }

  observe(events: readonly EngineEvent[]): void {
    this.#engine.observe(events);
  }

  answered(request: AnsweredRequest): void {
    this.#http.observe(request);
  }

  metricsPage(state: EngineState): string {
    this.#engine.update(state);
    this.#process.update();
    return pythonPage(this.#families.all());
  }
}
