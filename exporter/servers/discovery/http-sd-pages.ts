/** More targets than this are a selection by mistake, unless an option allows them. */
export const MAX_PAGES = 256;

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
