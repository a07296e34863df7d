import { DCGM_CONTENT_TYPE, DCGM_PORT, DcgmMetrics } from '../dcgm/dcgm-metrics.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { ServerFaults } from '../faults/server-faults.ts';
import { metricsServer, Site, pagePort } from '../http/site.ts';
import { MonotonicClock } from '../http/monotonic-clock.ts';
import { TruthLog } from '../http/truth-log.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { TritonHostMetrics } from './host-metrics.ts';
import { TritonModel } from './model.ts';
import { ResponseCache } from './response-cache.ts';
import { tritonServer } from './server.ts';
import type { ServedModel } from './server.ts';
import { MetricsPage, oneTwoFiveBounds } from '../metrics/page.ts';
import { WindowedSummary } from '../metrics/family.ts';

/** As libevhtp sends it by default. */
export const TRITON_CONTENT_TYPE = 'text/plain';

const SECONDS_PER_NANOSECOND = 1e-9;

/**
 * Triton with three models, each on an engine and a GPU of its own: the requested one on the TensorRT-LLM backend,
 * `…-vllm` on the vLLM backend, and `…-cached`, which keeps its responses in the response cache. Metrics are on a port of
 * their own, and the GPUs on that of a DCGM exporter.
 */
export async function startTriton({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const metrics = pagePort(8002, options.defaultPagePorts);
  const dcgm = pagePort(DCGM_PORT, options.defaultPagePorts);
  const server = new RestartingServer(() => {
    const triton = new Triton(options);
    const pages = [
      { server: metricsServer(TRITON_CONTENT_TYPE, () => triton.page()), address: metrics },
      { server: metricsServer(DCGM_CONTENT_TYPE, () => triton.dcgmPage()), address: dcgm },
    ];
    return new Site(triton.server, pages, () => triton.close());
  }, options.faults.restart);
  const port = await server.listen(wanted, host);
  const pageAt = ({ port }: { port: number }) => ({ port, path: '/metrics' });
  return { port, pages: [pageAt(metrics), pageAt(dcgm)], close: () => server.close() };
}

/** One run of a Triton server. */
class Triton {
  readonly server;
  readonly #clock = new MonotonicClock();
  readonly #families;
  readonly #models: readonly ServedModel[];
  readonly #host: TritonHostMetrics;
  readonly #cache = new ResponseCache();
  readonly #dcgm: DcgmMetrics;

  constructor({ model, parameters, faults, truthLimits }: Omit<StartOptions, 'host' | 'port'>) {
    const clock = this.#clock;
    this.#families = tritonFamilies(parameters.maxModelLen, () => clock.now_ns() * SECONDS_PER_NANOSECOND);
    this.#models = [
      { name: model, backend: 'tensorrtllm' as const, cache: null },
      { name: `${model}-vllm`, backend: 'vllm' as const, cache: null },
      { name: `${model}-cached`, backend: 'tensorrtllm' as const, cache: this.#cache },
    ].map(({ name, backend, cache }) => {
      const own = { model: name, backend, responseCache: cache !== null, parameters, clock, families: this.#families };
      return { name, model: new TritonModel(own), cache };
    });
    const gpus = this.#models.map((served) => served.model.gpu);
    this.#host = new TritonHostMetrics(this.#families, gpus);
    this.#dcgm = new DcgmMetrics(gpus);
    this.server = tritonServer({
      models: this.#models,
      parameters,
      clock,
      truth: new TruthLog(truthLimits),
      faults: new ServerFaults(faults, parameters.seed),
    });
  }

  page(): string {
    for (const { model } of this.#models) model.update();
    this.#host.update(this.#clock.now_ns());
    this.#cache.update(this.#families);
    return writePage(this.#families.all(), FORMATS.CPP);
  }

  dcgmPage(): string {
    for (const { model } of this.#models) model.update();
    return this.#dcgm.page(this.#clock.now_ns());
  }

  close(): void {
    for (const { model } of this.#models) model.driver.close();
  }
}

const TOKEN_BOUNDS_RULE = /^1-2-5 ladder/;

/**
 * The families of Triton's page.
 *
 * @param nowSeconds any clock that does not go back, for the window of the summaries
 */
export function tritonFamilies(maxModelLen: number, nowSeconds: () => number): MetricsPage {
  return new MetricsPage({
    catalogs: ['triton', 'triton-trtllm-backend', 'triton-vllm-backend'],
    // In the order of prometheus-cpp's registry: by type, each in the order of registration.
    parts: ['counters', 'gauges', 'histograms', 'summaries'],
    boundsOf: ({ buckets }) =>
      typeof buckets === 'string' && TOKEN_BOUNDS_RULE.test(buckets) ? oneTwoFiveBounds(maxModelLen) : undefined,
    makeSummary: () => new WindowedSummary(nowSeconds),
  });
}
