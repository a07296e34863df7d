import { firstNames } from '../../../core/text/first-names.ts';
import { things } from '../../../core/text/things.ts';
import { reasonOf } from '../../errors/store-errors.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import type { PageAccess } from '../scrape/page-access.ts';
import { PageClient, type PageLimits } from '../scrape/page-request.ts';
import { parseTarget, type Target } from '../scrape/targets.ts';
import { httpSdPages, MAX_PAGES } from './http-sd-pages.ts';
import { listPods } from './list-pods.ts';
import { searchFailure, searchName, type HttpSdSearch, type PageSearch, type PodSearch } from './page-search.ts';
import { pagesOfPods } from './pages-of-pods.ts';

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 10,
  totalTimeoutSeconds: 15,
  maxBytes: 4 * 1024 * 1024,
};
/** Names in a line of the terminal. */
const SHOWN = 8;

/**
 * The pages that a search finds now; each is reported. A service discovery is requested with the access of its URL. Throws a
 * `ConfigurationError` if there are none or too many.
 */
export async function findPages(
  search: PageSearch,
  accessOf: (url: string) => Promise<PageAccess>,
  say: (line: string) => void,
  mostPages = MAX_PAGES,
): Promise<readonly Target[]> {
  const found =
    search.kind === 'http-sd' ? await httpSdTargets(search, await accessOf(search.url)) : await podTargets(search, say);
  if (found.length > mostPages) {
    throw searchFailure(search, `${found.length} metrics pages are more than ${mostPages} (--max-found-pages)`);
  }
  const names = found.map(({ label }) => label);
  say(`found ${things(found.length, 'metrics pages')} by ${searchName(search)}: ${firstNames(names, SHOWN)}`);
  return found.map(({ url }) => parseTarget(url));
}

interface FoundPage {
  readonly url: string;
  readonly label: string;
}

async function podTargets(search: PodSearch, say: (line: string) => void): Promise<readonly FoundPage[]> {
  const pods = await listPods(search);
  const { pages, skipped } = pagesOfPods(pods);
  if (skipped.length > 0) say(`not read of ${searchName(search)}: ${firstNames(skipped, SHOWN)}`);
  if (pages.length === 0) {
    const reason =
      pods.length === 0
        ? 'no pod matches'
        : `${things(pods.length, 'pods')} found, but no running pod with a metrics page`;
    throw searchFailure(search, reason);
  }
  return pages.map(({ pod, url }) => ({ url, label: `${pod} at ${publicUrl(url)}` }));
}

async function httpSdTargets(search: HttpSdSearch, access: PageAccess): Promise<readonly FoundPage[]> {
  const client = new PageClient(LIMITS, () => performance.now() * 1e6, access);
  const page = await client.get(search.url).finally(() => client.close());
  if (page.kind !== 'page') throw searchFailure(search, page.message);
  const urls = listedUrls(search, new TextDecoder().decode(page.bytes));
  if (urls.length === 0) throw searchFailure(search, 'the response lists no target');
  return urls.map((url) => ({ url, label: publicUrl(url) }));
}

function listedUrls(search: HttpSdSearch, text: string): readonly string[] {
  try {
    return httpSdPages(text);
  } catch (error) {
    throw searchFailure(search, reasonOf(error));
  }
}
