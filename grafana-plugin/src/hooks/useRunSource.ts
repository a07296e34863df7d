import { useMemo } from 'react';
import { usePage } from './page-context.ts';
import { exporterSource } from '../runs/exporter-source.ts';
import { prometheusSource } from '../runs/prometheus-source.ts';
import type { RunSource } from '../runs/run-source.ts';

/** Where the page's runs come from; null when Grafana has neither data source. `without` leaves the exporter out. */
export function useRunSource(withoutExporter = false): RunSource | null {
  const { exporter, prometheus, time } = usePage();
  return useMemo(() => {
    if (exporter !== null && !withoutExporter) {
      return exporterSource(exporter);
    }
    return prometheus === null ? null : prometheusSource(prometheus, time);
    // A new time object means that the page was refreshed.
  }, [exporter, prometheus, time, withoutExporter]);
}
