import type { CatalogFamily } from '../../catalog/types.ts';
import { MetricsPage } from '../metrics/page.ts';
import { FORMATS } from '../metrics/write-page.ts';

/** From 0 to 1 in steps of 0.05, as a program that multiplies gets them: 0.15000000000000002. */
const RATIO_BOUNDS = Array.from({ length: 21 }, (_, i) => i * 0.05);

/** 0.01, and three times the one before, as a program that multiplies gets them. */
const OVERHEAD_BOUNDS = [0.01];
for (let i = 0; i < 16; i++) OVERHEAD_BOUNDS.push((OVERHEAD_BOUNDS[i] ?? NaN) * 3);

/** The catalog gives the bounds as they are meant; the page prints them as they were computed. */
function printedBounds({ name, buckets }: CatalogFamily): readonly number[] | undefined {
  if (/_(kv|shared_cache)_hit_rate$/.test(name)) return RATIO_BOUNDS;
  const tripled = name.startsWith('dynamo_router_overhead_') && Array.isArray(buckets) && buckets[0] === 0.01;
  return tripled ? OVERHEAD_BOUNDS : undefined;
}

/** One registry of Dynamo, or a part of a page that Python writes. */
export function dynamoPage(parts: readonly string[], format = FORMATS.RUST): MetricsPage {
  return new MetricsPage({ catalogs: ['dynamo', 'dynamo-router'], parts, format, boundsOf: printedBounds });
}
