import { setTimeout as pause } from 'node:timers/promises';
import { isIPv6 } from 'node:net';
import { ConfigurationError, reasonOf } from '../../errors/expected-error.ts';
import { searchFailure, type PodSearch } from './search-watch.ts';

/** What the discovery reads of a pod, by the names of the Kubernetes API (v1). */
export interface Pod {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: unknown;
  };
  readonly spec?: {
    readonly containers?: readonly PodContainer[];
    /** Some are sidecars, such as the routing proxy of llm-d. */
    readonly initContainers?: readonly PodContainer[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

export interface PodContainer {
  readonly name?: string;
  readonly image?: string;
  /** Of an init container: `Always` makes it a sidecar; another one ends before the pod runs. */
  readonly restartPolicy?: string;
  readonly ports?: readonly PodPort[];
}

interface PodPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

/** What is used of `@kubernetes/client-node`, which is optional. */
interface KubernetesClient {
  readonly KubeConfig: new () => KubeConfig;
  readonly CoreV1Api: unknown;
}

interface KubeConfig {
  loadFromDefault(): void;
  getCurrentCluster(): { readonly server: string } | null;
  makeApiClient(api: unknown): {
    listNamespacedPod(request: {
      readonly namespace: string;
      readonly labelSelector: string;
      readonly limit: number;
      readonly _continue?: string;
    }): Promise<{ readonly items: readonly Pod[]; readonly metadata?: { readonly _continue?: string } }>;
  };
}

const PACKAGE = '@kubernetes/client-node';
const TIMEOUT_SECONDS = 15;
const PODS_AT_ONCE = 500;
/** More are a selection by mistake. */
const MAX_PODS = 10_000;
/** What the client falls back to without any configuration. */
const NO_CONFIGURATION = 'http://localhost:8080';

/**
 * The pods of a search, with the access of the client's usual places: `KUBECONFIG`, `~/.kube/config`, or in a pod its service
 * account. Throws a `ConfigurationError`.
 */
export async function listPods(search: PodSearch): Promise<readonly Pod[]> {
  const { KubeConfig, CoreV1Api } = await loadClient();
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw searchFailure(search, `the configuration of Kubernetes cannot be read: ${reasonOf(error)}`);
  }
  const server = config.getCurrentCluster()?.server ?? null;
  if (server === null || server === NO_CONFIGURATION) {
    throw searchFailure(
      search,
      'no cluster is configured: set KUBECONFIG, or run llmbench in a pod with a service account',
    );
  }
  const api = config.makeApiClient(CoreV1Api);
  const pods: Pod[] = [];
  let next = '';
  do {
    const request = { namespace: search.namespace, labelSelector: search.selector, limit: PODS_AT_ONCE };
    const listed = api
      .listNamespacedPod(next === '' ? request : { ...request, _continue: next })
      .catch((error: unknown) => {
        throw searchFailure(search, responseText(error, server));
      });
    const { items, metadata } = await inTime(listed, () =>
      searchFailure(search, `${server} did not answer within ${TIMEOUT_SECONDS} s`),
    );
    pods.push(...items);
    next = metadata?._continue ?? '';
    if (pods.length > MAX_PODS) throw searchFailure(search, `more than ${MAX_PODS} pods match: narrow the selector`);
  } while (next !== '');
  return pods;
}

async function inTime<T>(listed: Promise<T>, lateness: () => Error): Promise<T> {
  const answered = new AbortController();
  const late = pause(TIMEOUT_SECONDS * 1000, null, { signal: answered.signal }).catch(() => null);
  try {
    const list = await Promise.race([listed, late]);
    if (list === null) throw lateness();
    return list;
  } finally {
    answered.abort();
    // A response after the timeout is not waited for.
    listed.catch(() => undefined);
  }
}

async function loadClient(): Promise<KubernetesClient> {
  try {
    // Not a literal: the types of an optional package of 60 MB are not required to compile.
    const name: string = PACKAGE;
    return (await import(name)) as KubernetesClient;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigurationError(
      `--server-metrics k8s: requires the package ${PACKAGE}, which is not installed: npm install ${PACKAGE}`,
    );
  }
}

/** What the API server answered, without the body of the response. */
function responseText(error: unknown, server: string): string {
  const { code } = error as { code?: unknown };
  if (code === 403)
    return 'listing pods is forbidden (HTTP 403): the user or service account requires the verb list on pods';
  if (code === 401) return 'the credentials of Kubernetes are not valid (HTTP 401)';
  if (code === 400) return 'the API refuses the label selector (HTTP 400)';
  if (typeof code === 'number') return `the API answered with HTTP ${code}`;
  return `${server} cannot be reached: ${reasonOf(error)}`;
}

/** A metrics page of a pod. */
interface PodPage {
  readonly pod: string;
  readonly url: string;
}

interface PagesOfPods {
  readonly pages: readonly PodPage[];
  /** What of running pods is not read, and why, such as `vllm-0: no port …`. */
  readonly skipped: readonly string[];
}

const METRICS_PATH = '/metrics';
/** Ports that serve only metrics. Dynamo's operator names those of workers `system`, of the planner `metrics`. */
const METRICS_PORT = /^(metrics|.*-metrics|metrics-.*|prometheus|system)$/;
/**
 * Ports of APIs that serve metrics as well: `http` (Dynamo's frontend), `container-port` and `router-container-port`
 * (vLLM's production stack), `http1`, `h2c`, `user-port`, `https` (KServe), `api` and `http-openai` (NIM), `vllm` (llm-d).
 */
const API_PORT =
  /^(http|https|http1|h2c|user-port|api|http-openai|http-api|server|openai|vllm|sglang|(router-)?container-port)$/;
/** Of ports without such a name: vLLM, Dynamo and NIM, KServe, SGLang, its gateway, Triton's metrics. */
const API_NUMBERS: readonly number[] = [8000, 8080, 8200, 30_000, 29_000, 8002];
/** Images of engines, their frontends and routers, by the names under which their projects publish them. */
const ENGINE_IMAGE =
  /vllm|sglang|tritonserver|tensorrt-?llm|(^|\/)nim\/|ai-dynamo\/|dynamo-|huggingfaceserver|text-generation-inference|lmcache|lmstack|llm-d-(cuda|cpu|xpu|rocm|aws|inference-sim)/i;
const NO_ENGINE_IMAGE = /sidecar|proxy|exporter|fluent/i;

/**
 * The metrics pages of running pods, by what their labels, annotations and ports state: first the annotations of
 * Prometheus and KServe, then the ports of containers with the image of an engine, then those of the others. Of each
 * container the ports that serve only metrics, else that of its API.
 */
export function pagesOfPods(pods: readonly Pod[]): PagesOfPods {
  const pages: PodPage[] = [];
  const skipped: string[] = [];
  for (const pod of pods) {
    if (pod.status?.phase !== 'Running' || pod.metadata?.deletionTimestamp !== undefined) continue;
    const name = pod.metadata?.name ?? 'a pod without a name';
    const found = pagesOf(pod);
    if (typeof found === 'string') skipped.push(`${name}: ${found}`);
    else {
      pages.push(...found.urls.map((url) => ({ pod: name, url })));
      skipped.push(...found.skipped.map((reason) => `${name}: ${reason}`));
    }
  }
  return { pages, skipped };
}

interface PagesOfPod {
  readonly urls: readonly string[];
  readonly skipped: readonly string[];
}

/** Pages, or why there are none. */
function pagesOf(pod: Pod): PagesOfPod | string {
  const address = pod.status?.podIP;
  if (address === undefined) return 'it has no address yet';
  const { annotations = {}, labels = {} } = pod.metadata ?? {};
  if (annotations['prometheus.io/scrape'] === 'false') return 'its annotation prometheus.io/scrape is false';
  if (labels['nvidia.com/metrics-enabled'] === 'false') return 'its label nvidia.com/metrics-enabled is false';
  const annotated = annotatedPage(annotations);
  if (typeof annotated === 'string') return annotated;
  if (annotated !== null) return { urls: [pageUrl(address, annotated)], skipped: [] };
  const { places, skipped } = placesOfPorts(pod);
  return places.length > 0
    ? { urls: places.map((page) => pageUrl(address, page)), skipped }
    : 'no port has the name or number of a metrics page; annotate it with prometheus.io/port';
}

interface PagePlace {
  readonly scheme: string;
  readonly port: number;
  readonly path: string;
}

/** Null: the annotations name no port. A text: they are invalid. */
function annotatedPage(annotations: Readonly<Record<string, string>>): PagePlace | string | null {
  const prefix = ['prometheus.io', 'prometheus.kserve.io'].find((each) => annotations[`${each}/port`] !== undefined);
  if (prefix === undefined) return null;
  const text = annotations[`${prefix}/port`] ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) return `its annotation ${prefix}/port is not a port`;
  const scheme = annotations[`${prefix}/scheme`] ?? 'http';
  if (scheme !== 'http' && scheme !== 'https') return `its annotation ${prefix}/scheme is neither http nor https`;
  return { scheme, port, path: annotations[`${prefix}/path`] ?? METRICS_PATH };
}

function placesOfPorts({ spec, metadata }: Pod): { places: readonly PagePlace[]; skipped: readonly string[] } {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const containers = [...(spec?.containers ?? []), ...sidecars].map((container) => ({
    container,
    ...portsOf(container, metadata?.labels ?? {}),
  }));
  const engines = containers.filter(
    ({ container, metrics, api }) => isEngine(container) && metrics.length + api.length > 0,
  );
  if (engines.length > 0) {
    const skipped = containers
      .filter((each) => !engines.includes(each))
      .flatMap(({ container, metrics }) => metrics.map((page) => ({ container, page })))
      .map(({ container, page }) => `port ${page.port} of ${container.name ?? 'a container'}, which is not an engine`);
    return { places: engines.flatMap(({ metrics, api }) => (metrics.length > 0 ? metrics : api)), skipped };
  }
  // Images with a name of their own: what serves metrics may be a sidecar's, so the API beside it is read as well.
  const metrics = containers.flatMap((each) => each.metrics);
  const apis = containers.filter((each) => each.metrics.length === 0).flatMap(({ api }) => api);
  // An engine has one API; more ports are those of other programs, such as gRPC.
  const [api] = [...apis].sort((a, b) => a.rank - b.rank);
  return { places: api === undefined ? metrics : [...metrics, api], skipped: [] };
}

const isEngine = ({ image = '' }: PodContainer): boolean => ENGINE_IMAGE.test(image) && !NO_ENGINE_IMAGE.test(image);

/** An API by its name comes before one by its number, and that before a port that is the only one. */
interface ApiPlace extends PagePlace {
  readonly rank: number;
}

/** Where a container has a page: its ports that serve only metrics, and the best candidate of its APIs. */
function portsOf(
  container: PodContainer,
  labels: Readonly<Record<string, string>>,
): { readonly metrics: readonly PagePlace[]; readonly api: readonly ApiPlace[] } {
  const ports = (container.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  const rankOf = ({ name = '', containerPort }: PodPort): number => {
    if (API_PORT.test(name)) return 0;
    if (API_NUMBERS.includes(containerPort)) return 1;
    return ports.length === 1 && !/grpc/.test(name) ? 2 : Infinity;
  };
  const metrics = ports.filter(({ name = '' }) => METRICS_PORT.test(name)).map((port) => place(port, METRICS_PATH));
  const apis = ports
    .filter(({ name = '' }) => !METRICS_PORT.test(name))
    .map((port) => ({ ...place(port, apiPath(container, labels)), rank: rankOf(port) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((a, b) => a.rank - b.rank);
  return { metrics, api: apis.slice(0, 1) };
}

const place = ({ name, containerPort }: PodPort, path: string): PagePlace => ({
  scheme: name === 'https' ? 'https' : 'http',
  port: containerPort,
  path,
});

/** NIM and TensorRT-LLM serve metrics elsewhere than most. */
function apiPath({ image = '' }: PodContainer, labels: Readonly<Record<string, string>>): string {
  if (labels['app.kubernetes.io/managed-by'] === 'k8s-nim-operator' || /(^|\/)nim\//.test(image)) return '/v1/metrics';
  return /tensorrt-llm/.test(image) ? '/prometheus/metrics' : METRICS_PATH;
}

function pageUrl(address: string, { scheme, port, path }: PagePlace): string {
  const host = isIPv6(address) ? `[${address}]` : address;
  return `${scheme}://${host}:${port}${path.startsWith('/') ? path : `/${path}`}`;
}
