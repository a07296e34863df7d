import { nativeName } from './native-name.ts';
import { loadCatalogHead, systems } from './load.ts';
import type { CatalogHead } from './types.ts';

const ORDER: readonly CatalogHead['role'][] = ['gateway', 'engine', 'layer', 'hardware'];

let heads: readonly CatalogHead[] | null = null;

/**
 * The systems whose families are among these names, gateways first, then engines, then what works inside them: a page
 * of Dynamo that passes vLLM's and LMCache's families through is `dynamo`, `vllm`, `lmcache`.
 */
export function systemsOfNames(names: Iterable<string>): string[] {
  heads ??= systems()
    .map(loadCatalogHead)
    .sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role));
  const all = [...names].map(nativeName);
  const any = (prefixes: readonly string[]): boolean =>
    all.some((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  return heads
    .filter(
      ({ format, detect, detect_with, detect_without }) =>
        format !== 'json' &&
        any(detect) &&
        (detect_with === undefined || any(detect_with)) &&
        (detect_without === undefined || !any(detect_without)),
    )
    .map(({ system }) => system);
}
