import { firstNames, things } from '../../../core/text/quantities.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { PageClient, type PageFailure, type PageLimits, type ReceivedPage } from '../scrape/page-request.ts';
import { parseTarget, type Target, type PageAccess } from '../scrape/targets.ts';
import {
  MAX_PAGES,
  searchFailure,
  searchName,
  type HttpSdSearch,
  type PageSearch,
  type PodSearch,
} from './search-watch.ts';
import { listPods, pagesOfPods } from './pods.ts';

/**
 * The URLs of the targets in a response of Prometheus' HTTP service discovery. The labels `__scheme__`, `__metrics_path__`
 * and `__param_NAME` are applied; the others describe targets in Prometheus.
 * @throws Error with a message of one line that begins with where the response is wrong
 */
export function httpSdPages(text: string): readonly string[] {
  let groups: unknown;
  try {
    groups = JSON.parse(text);
  } catch {
    throw new Error('the response is not JSON');
  }
  if (!Array.isArray(groups)) throw new Error('the response is not a list of target groups');
  return groups.flatMap((group: unknown, index) => pagesOfGroup(group, `group ${index}`));
}

function pagesOfGroup(group: unknown, where: string): readonly string[] {
  const { targets, labels = {} } = (group ?? {}) as { targets?: unknown; labels?: unknown };
  if (!isTextList(targets)) throw new Error(`${where}: targets is not a list of texts`);
  if (!isTextMap(labels)) throw new Error(`${where}: labels is not a map of texts`);
  return targets.map((target) => pageUrl(target, labels, where));
}

function pageUrl(target: string, labels: Readonly<Record<string, string>>, where: string): string {
  const scheme = labels['__scheme__'] ?? 'http';
  // An address with a path or user info is not one: it would be another URL than Prometheus requests.
  const url = /^[^\s/?#@\\]+$/.test(target) && /^https?$/.test(scheme) ? URL.parse(`${scheme}://${target}`) : null;
  if (url === null) throw new Error(`${where}: a target is not host:port with the scheme http or https`);
  url.pathname = labels['__metrics_path__'] ?? '/metrics';
  for (const [name, value] of Object.entries(labels)) {
    if (name.startsWith('__param_')) url.searchParams.set(name.slice('__param_'.length), value);
  }
  return url.href;
}

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isTextMap = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string');

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 10,
  totalTimeoutSeconds: 15,
  maxBytes: 4 * 1024 * 1024,
};
/** Names in a line of the terminal. */
const SHOWN = 8;

/** What a search finds, for messages too. */
interface FoundPages {
  readonly targets: readonly Target[];
  /** As messages name the pages. */
  readonly names: readonly string[];
  readonly skipped: readonly string[];
  /** Why there are none. */
  readonly whyNone: string;
}

/**
 * The pages that a search finds now; each is reported. Throws a `ConfigurationError` if there are none or too many.
 */
export async function findPages(
  search: PageSearch,
  accessOf: (url: string) => Promise<PageAccess>,
  say: (line: string) => void,
  mostPages = MAX_PAGES,
): Promise<readonly Target[]> {
  const { targets, names, skipped, whyNone } = await searchPages(search, accessOf, mostPages);
  if (skipped.length > 0) say(`not read of ${searchName(search)}: ${firstNames(skipped, SHOWN)}`);
  if (targets.length === 0) throw searchFailure(search, whyNone);
  say(`found ${things(targets.length, 'metrics pages')} by ${searchName(search)}: ${firstNames(names, SHOWN)}`);
  return targets;
}

/** The same without a report; there may be none. A service discovery is requested with the access of its URL. */
export async function searchPages(
  search: PageSearch,
  accessOf: (url: string) => Promise<PageAccess>,
  mostPages = MAX_PAGES,
): Promise<FoundPages> {
  const found =
    search.kind === 'http-sd' ? await httpSdTargets(search, await accessOf(search.url)) : await podTargets(search);
  const pages = found.targets.length;
  if (pages > mostPages)
    throw searchFailure(search, `${pages} metrics pages are more than ${mostPages} (--max-found-pages)`);
  return found;
}

async function podTargets(search: PodSearch): Promise<FoundPages> {
  const pods = await listPods(search);
  const { pages, skipped } = pagesOfPods(pods);
  return {
    targets: pages.map(({ url }) => parseTarget(url)),
    names: pages.map(({ pod, url }) => `${pod} at ${publicUrl(url)}`),
    skipped,
    whyNone:
      pods.length === 0
        ? 'no pod matches'
        : `${things(pods.length, 'pods')} found, but no running pod with a metrics page`,
  };
}

async function httpSdTargets(search: HttpSdSearch, access: PageAccess): Promise<FoundPages> {
  const page = await getPage(search.url, access);
  if (page.kind !== 'page') throw searchFailure(search, page.message);
  const urls = listedUrls(search, new TextDecoder().decode(page.bytes));
  return {
    targets: urls.map((url) => parseTarget(url)),
    names: urls.map((url) => publicUrl(url)),
    skipped: [],
    whyNone: 'the response lists no target',
  };
}

async function getPage(url: string, access: PageAccess): Promise<ReceivedPage | PageFailure> {
  const client = new PageClient(LIMITS, () => performance.now() * 1e6, access);
  try {
    return await client.get(url);
  } finally {
    await client.close();
  }
}

function listedUrls(search: HttpSdSearch, text: string): readonly string[] {
  try {
    return httpSdPages(text);
  } catch (error) {
    throw searchFailure(search, reasonOf(error));
  }
}
