/**
 * Which histograms the queries of a dashboard read: classic ones, as every Prometheus and VictoriaMetrics have them, or
 * either kind, which requires Prometheus 3.
 */
export type Histograms = 'classic' | 'either';
