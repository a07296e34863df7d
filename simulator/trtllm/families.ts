import { PageFamilies } from '../metrics/page-families.ts';
import { TRTLLM_COUNTERS } from './page/counters.ts';
import { TRTLLM_GAUGES } from './page/gauges.ts';
import { TRTLLM_HISTOGRAMS } from './page/histograms.ts';

/** The families of `/prometheus/metrics` of trtllm-serve with `return_perf_metrics` and `enable_iter_perf_stats`. */
export class TrtllmFamilies extends PageFamilies {
  constructor() {
    super({ catalogs: ['trtllm'], entries: [...TRTLLM_GAUGES, ...TRTLLM_COUNTERS, ...TRTLLM_HISTOGRAMS] });
  }
}
