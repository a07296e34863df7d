import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type { EngineState, EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { RespondedRequest, ServerProfile } from '../server-profile.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { VllmEngineMetrics } from './engine-metrics.ts';
import { VllmFamilies } from './families.ts';
import { VllmHttpMetrics } from './http-metrics.ts';
import { VLLM_PAGE } from './page.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { switchFamilies } from './switch-families.ts';
import { VllmSwitchMetrics } from './switch-metrics.ts';

interface VllmProfileOptions {
  readonly modelName: string;
  readonly parameters: EngineParameters;
  /** The present as Unix time. Default: the machine's. */
  readonly wallSeconds?: () => number;
  /** Whether the server has the switches on that show further families. Default true. */
  readonly switches?: boolean;
}

/** The metrics page of vLLM 0.32.0 with one engine and one API server process. */
export class VllmProfile implements ServerProfile {
  readonly ownedBy = 'vllm';
  readonly responses = systemResponses(DIALECTS.vllm);
  /** Whatever the scraper asks for. */
  readonly metricsContentType = 'text/plain; version=1.0.0; charset=utf-8';
  readonly #families: VllmFamilies;
  readonly #engine: VllmEngineMetrics;
  readonly #http: VllmHttpMetrics;
  readonly #process: ProcessMetrics;
  readonly #switches: VllmSwitchMetrics | null;

  constructor({ modelName, parameters, wallSeconds = () => Date.now() / 1000, switches = true }: VllmProfileOptions) {
    const entries = switches ? [...VLLM_PAGE, ...switchFamilies(parameters)] : VLLM_PAGE;
    this.#families = new VllmFamilies(parameters.maxModelLen, wallSeconds, entries);
    this.#engine = new VllmEngineMetrics(this.#families, modelName, parameters);
    this.#http = new VllmHttpMetrics(this.#families);
    this.#process = new ProcessMetrics(this.#families);
    this.#switches = switches ? new VllmSwitchMetrics(this.#families, { modelName, parameters, wallSeconds }) : null;
  }

  observe(events: readonly EngineEvent[]): void {
    this.#engine.observe(events);
    if (this.#switches !== null) for (const event of events) this.#switches.observe(event);
  }

  responded(request: RespondedRequest): void {
    this.#http.observe(request);
  }

  metricsPage(state: EngineState): string {
    this.#engine.update(state);
    this.#process.update();
    return writePage(this.#families.all(), FORMATS.PYTHON);
  }
}
