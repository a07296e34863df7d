import { isIPv6 } from 'node:net';
import type { Pod, PodContainer, PodPort } from './pod.ts';

/** A metrics page of a pod. */
export interface PodPage {
  readonly pod: string;
  readonly url: string;
}

export interface PagesOfPods {
  readonly pages: readonly PodPage[];
  /** Why running pods are not read, one entry per pod: `vllm-0: no port …`. */
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

/**
 * The metrics pages of running pods, by what their labels, annotations and ports state: first the annotations of
 * Prometheus and KServe, then ports that serve only metrics, then those of an API.
 */
export function pagesOfPods(pods: readonly Pod[]): PagesOfPods {
  const pages: PodPage[] = [];
  const skipped: string[] = [];
  for (const pod of pods) {
    if (pod.status?.phase !== 'Running' || pod.metadata?.deletionTimestamp !== undefined) continue;
    const name = pod.metadata?.name ?? 'a pod without a name';
    const found = pagesOf(pod);
    if (typeof found === 'string') skipped.push(`${name}: ${found}`);
    else pages.push(...found.map((url) => ({ pod: name, url })));
  }
  return { pages, skipped };
}

/** Pages, or why there are none. */
function pagesOf(pod: Pod): readonly string[] | string {
  const address = pod.status?.podIP;
  if (address === undefined) return 'it has no address yet';
  const { annotations = {}, labels = {} } = pod.metadata ?? {};
  if (annotations['prometheus.io/scrape'] === 'false') return 'its annotation prometheus.io/scrape is false';
  if (labels['nvidia.com/metrics-enabled'] === 'false') return 'its label nvidia.com/metrics-enabled is false';
  const annotated = annotatedPage(annotations);
  if (typeof annotated === 'string') return annotated;
  if (annotated !== null) return [pageUrl(address, annotated)];
  const ports = pageOfPorts(pod);
  return ports.length > 0
    ? ports.map((page) => pageUrl(address, page))
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

function pageOfPorts({ spec, metadata }: Pod): readonly PagePlace[] {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const declared = containers.flatMap((container) =>
    (container.ports ?? [])
      .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
      .map((port) => ({ ...port, container })),
  );
  const withName = (pattern: RegExp): typeof declared => declared.filter(({ name = '' }) => pattern.test(name));
  const metrics = withName(METRICS_PORT);
  if (metrics.length > 0) return metrics.map((port) => place(port, METRICS_PATH));
  const named = withName(API_PORT);
  const numbered = declared.filter(({ containerPort }) => API_NUMBERS.includes(containerPort));
  const single = declared.filter(({ name = '' }) => declared.length === 1 && !/grpc/.test(name));
  const apis = [named, numbered, single].find(({ length }) => length > 0) ?? [];
  // An engine has one API; more ports are those of other programs, such as gRPC.
  return apis.slice(0, 1).map((port) => place(port, apiPath(port.container, metadata?.labels ?? {})));
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
