import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type { EngineState, EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { RespondedRequest, ServerProfile } from '../server-profile.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { isEndpoint } from './endpoints.ts';
import { dynamoFamilies } from './families.ts';
import { FrontendMetrics } from './frontend-metrics.ts';
import type { FrontendError } from './frontend-metrics.ts';
import { FRONTEND_PAGE, FRONTEND_RUNTIME_PAGE } from './frontend-page.ts';
import type { DynamoInstance } from './instance.ts';
import type { RoutedRequest } from './routed-request.ts';
import { RouterMetrics } from './router-metrics.ts';
import { RuntimeMetrics } from './runtime-metrics.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/** What a refusal counts as; other responses are counted by what became of the request. */
const REFUSALS: Readonly<Record<number, FrontendError>> = {
  400: 'validation',
  404: 'not_found',
  429: 'overload',
  503: 'overload',
};

/** The frontend of Dynamo 1.4.2 with its KV router: two registries, one page. */
export class DynamoProfile implements ServerProfile {
  readonly ownedBy = 'nvidia';
  readonly metricsContentType = 'text/plain; charset=utf-8';
  readonly responses = systemResponses(DIALECTS.dynamo);
  readonly #http = dynamoFamilies(FRONTEND_PAGE);
  readonly #runtime = dynamoFamilies(FRONTEND_RUNTIME_PAGE);
  readonly #frontend: FrontendMetrics;
  readonly #router: RouterMetrics;
  readonly #tokio: RuntimeMetrics;
  readonly #self: DynamoInstance;

  constructor(self: DynamoInstance, model: string, parameters: EngineParameters) {
    this.#self = self;
    this.#frontend = new FrontendMetrics(this.#http, model, parameters);
    this.#router = new RouterMetrics({ http: this.#http, runtime: this.#runtime, self, model });
    this.#tokio = new RuntimeMetrics(this.#http, seededRandom(parameters.seed));
  }

  workerCame(worker: DynamoInstance): void {
    this.#router.registered(worker, 1);
    this.#frontend.queriedWorker();
  }

  workerLeft(worker: DynamoInstance): void {
    this.#router.registered(worker, 0);
  }

  routed(request: RoutedRequest): void {
    this.#frontend.routed(request);
    this.#router.routed(request);
  }

  /** The worker of a request is gone. */
  lost(id: string, now_ns: number): void {
    this.#frontend.lost(id, now_ns);
    this.#router.lost(id);
  }

  observe(events: readonly EngineEvent[]): void {
    this.#frontend.observe(events);
    this.#router.observe(events);
    for (const event of events) if (event.kind === 'token') this.#tokio.chunk();
  }

  responded({ handler, status }: RespondedRequest): void {
    const error = REFUSALS[status];
    if (isEndpoint(handler) && error !== undefined) this.#frontend.refused(error, handler);
  }

  metricsPage({ now_ns, running, waiting }: EngineState): string {
    this.#frontend.update(now_ns);
    this.#tokio.update(now_ns, running + waiting);
    const uptime = this.#runtime.gauge('dynamo_component_uptime_seconds').series({ worker_id: this.#self.hex });
    uptime.value = now_ns * SECONDS_PER_NANOSECOND;
    return writePage(this.#http.all(), FORMATS.RUST) + writePage(this.#runtime.all(), FORMATS.RUST);
  }
}
