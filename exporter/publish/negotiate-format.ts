import type { PageFormat } from '../../core/exposition/index.ts';

interface MediaRange {
  readonly type: string;
  readonly version: string | null;
  readonly quality: number;
}

/**
 * The exposition format for an `Accept` header (RFC 9110 §12.5.1): OpenMetrics 1.0 when it is named and wanted at least as
 * much as the text format, else text 0.0.4, which every scraper reads, also when the header is missing or unknown.
 */
export function negotiateFormat(accept: string | undefined): PageFormat {
  const ranges = (accept ?? '').split(',').map(mediaRange);
  const best = (fits: (range: MediaRange) => boolean): number =>
    Math.max(0, ...ranges.filter(fits).map(({ quality }) => quality));
  const openmetrics = best(
    ({ type, version }) => type === 'application/openmetrics-text' && (version === null || version === '1.0.0'),
  );
  const text = best(({ type, version }) => type === 'text/plain' && (version === null || version === '0.0.4'));
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

function mediaRange(item: string): MediaRange {
  const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
  const value = (name: string): string | null =>
    parameters
      .find((parameter) => parameter.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .replace(/^"(.*)"$/, '$1') ?? null;
  const quality = Number(value('q') ?? '1');
  return { type, version: value('version'), quality: Number.isFinite(quality) ? quality : 0 };
}
