/**
 * The query for native histograms instead of one that asks for buckets of classic histograms only; null for any other.
 */
export function nativeQuery(expression: string): string | null {
  const families = [...expression.matchAll(/([a-zA-Z_:][\w:]*)_bucket(?![\w:])/g)].map(([, family = '']) => family);
  const asksForEither = families.some((family) => new RegExp(`(?<![\\w:])${family}(?![\\w:])`).test(expression));
  return families.length === 0 || asksForEither
    ? null
    : families.reduce((query, family) => query.replaceAll(`${family}_bucket`, family), expression);
}
