import { ConfigurationError } from '../../errors/expected-error.ts';
import { publicUrl } from '../../http-client/public-url.ts';

/** Pods of a Kubernetes namespace. */
export interface PodSearch {
  readonly kind: 'kubernetes';
  readonly namespace: string;
  /** A label selector, as the API of Kubernetes takes it. */
  readonly selector: string;
}

/** A URL of Prometheus' HTTP service discovery. */
export interface HttpSdSearch {
  readonly kind: 'http-sd';
  /** With user info and query: never displayed. */
  readonly url: string;
}

/** Where metrics pages are found when a command starts. */
export type PageSearch = PodSearch | HttpSdSearch;

/** More targets than this are a selection by mistake, unless an option allows them. */
export const MAX_PAGES = 256;

const KUBERNETES = 'k8s:';
const HTTP_SD = 'http-sd:';
/** A name of a namespace: RFC 1123. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads `k8s:NAMESPACE/SELECTOR` or `http-sd:URL`; null for anything else.
 * @throws Error with a message of one line that says what the value must be, without the value
 */
export function parsePageSearch(given: string): PageSearch | null {
  const text = given.trim();
  if (text.startsWith(KUBERNETES)) return podSearch(text.slice(KUBERNETES.length));
  if (text.startsWith(HTTP_SD)) return httpSdSearch(text.slice(HTTP_SD.length));
  return null;
}

/** The search as messages name it. */
export function searchName(search: PageSearch): string {
  return search.kind === 'http-sd'
    ? `${HTTP_SD}${publicUrl(search.url)}`
    : `${KUBERNETES}${search.namespace}/${search.selector}`;
}

/** Why a search has no pages. */
export const searchFailure = (search: PageSearch, reason: string): ConfigurationError =>
  new ConfigurationError(`--server-metrics ${searchName(search)}: ${reason}`);

function podSearch(text: string): PodSearch {
  const slash = text.indexOf('/');
  const [namespace, selector] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1).trim()];
  if (!NAMESPACE.test(namespace) || selector === '') {
    throw new Error(`${KUBERNETES}NAMESPACE/SELECTOR, such as ${KUBERNETES}inference/app=vllm`);
  }
  return { kind: 'kubernetes', namespace, selector };
}

function httpSdSearch(text: string): HttpSdSearch {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${HTTP_SD}URL, such as ${HTTP_SD}http://prometheus-sd:8080/targets`);
  }
  return { kind: 'http-sd', url: url.href };
}
