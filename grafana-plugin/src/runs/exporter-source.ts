import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import type { ValueName } from '../../../core/api/runs.ts';
import type { FilterMember, RunSource } from './run-source.ts';

const VALUES: Record<FilterMember, ValueName> = {
  scenario: 'scenarios',
  model: 'models',
  system: 'systems',
  tool: 'tools',
  status: 'statuses',
  verdict: 'verdicts',
};

/** The exporter filters, sorts and pages. */
export function exporterSource(api: ExporterApi): RunSource {
  return {
    kind: 'exporter',
    list: (request, signal) => api.runs(request, signal),
    values: async (member, signal) => {
      const { values } = await api.values(VALUES[member], {}, signal);
      return values.map(({ value }) => value);
    },
  };
}
