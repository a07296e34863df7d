import { PageFamilies } from '../metrics/page-families.ts';
import type { PageEntries } from '../metrics/page-families.ts';
import { oneTwoFiveBounds } from '../metrics/token-bounds.ts';

const TOKEN_BOUNDS_RULE = '1,2,5 x 10^n up to max_model_len';

/** The families of a page of vLLM. */
export class VllmFamilies extends PageFamilies {
  /** @param wallSeconds the present as Unix time, for the creation times of series */
  constructor(maxModelLen: number, wallSeconds: () => number, entries: PageEntries) {
    super({
      catalogs: ['vllm'],
      entries,
      boundsOf: ({ buckets }) => (buckets === TOKEN_BOUNDS_RULE ? oneTwoFiveBounds(maxModelLen) : undefined),
      // The families of the process and of Python come from collectors that know no creation times.
      createdOf: (name) => (/^(python|process)_/.test(name) ? null : wallSeconds()),
    });
  }
}
