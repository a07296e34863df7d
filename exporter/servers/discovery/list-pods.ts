import { setTimeout as pause } from 'node:timers/promises';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { reasonOf } from '../../errors/store-errors.ts';
import type { Pod } from './pod.ts';
import { searchFailure, type PodSearch } from './page-search.ts';

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
