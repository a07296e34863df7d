import type { StatusAnswer } from '../../exporter-api/types.ts';

/** What "Save & test" says when the exporter answers. */
export function healthMessage({ version, runs }: StatusAnswer): string {
  const counts = [
    `${runs.finished} finished ${runs.finished === 1 ? 'run' : 'runs'}`,
    ...(runs.running > 0 ? [`${runs.running} running`] : []),
    ...(runs.damaged > 0 ? [`${runs.damaged} that cannot be read`] : []),
  ];
  return `Connected to llmbench ${version}: ${counts.join(', ')}.`;
}
