import { PageFamilies } from '../metrics/page-families.ts';
import { oneTwoFiveBounds } from '../metrics/token-bounds.ts';
import { WindowedSummary } from '../metrics/windowed-summary.ts';
import { TRITON_PAGE } from './page.ts';

const TOKEN_BOUNDS_RULE = /^1-2-5 ladder/;

/**
 * The families of Triton's page.
 *
 * @param nowSeconds any clock that does not go back, for the window of the summaries
 */
export function tritonFamilies(maxModelLen: number, nowSeconds: () => number): PageFamilies {
  return new PageFamilies({
    catalogs: ['triton', 'triton-trtllm-backend', 'triton-vllm-backend'],
    entries: TRITON_PAGE,
    boundsOf: ({ buckets }) =>
      typeof buckets === 'string' && TOKEN_BOUNDS_RULE.test(buckets) ? oneTwoFiveBounds(maxModelLen) : undefined,
    makeSummary: () => new WindowedSummary(nowSeconds),
  });
}
