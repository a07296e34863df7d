import { withoutSecrets } from '../../core/run/secret-fields.ts';
import { messageExcerpt } from '../errors/message-excerpt.ts';
import { ScalarSeries } from '../servers/series/series.ts';
import type { TargetStore } from '../servers/series/target-store.ts';

/**
 * A text as it may be stored: one line of at most 200 characters without credentials, user info and queries of URLs.
 * Null: empty.
 */
export function factText(text: unknown, secrets: readonly string[] = []): string | null {
  if (typeof text !== 'string') return null;
  const shown = withoutSecrets(messageExcerpt(text, secrets));
  return shown === '' ? null : shown;
}

/** A version as programs write it: `0.11.1rc2+cu129`. Null: something else. */
export function versionText(version: unknown): string | null {
  return typeof version === 'string' && /^[0-9A-Za-z][\w.+~!-]{0,63}$/.test(version) ? version : null;
}

/** A sample that describes a server, rather than its load. */
export interface InfoSeries {
  readonly target: string;
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Families of a configuration and of GPUs on the newest good page of a target. */
const DESCRIBES = /_info$|^DCGM_FI_|^gpu_(average_)?package_power$/;

export function infoSeries(target: string, store: TargetStore): readonly InfoSeries[] {
  const scrape = store.lastOkAt(Infinity);
  if (scrape < 0) return [];
  return store.series.flatMap((series) => {
    if (!(series instanceof ScalarSeries) || !DESCRIBES.test(series.family.name)) return [];
    const change = series.changeAt(scrape);
    if (change < 0 || series.isAbsent(change)) return [];
    return [{ target, family: series.family.name, labels: series.labels, value: series.value(change) }];
  });
}
