import type { ImportNotes } from './import-notes.ts';
import type { ListedSurvey } from './listed-survey.ts';

/** How many requests were ok, by the summary of a benchmark, else by its lists; null when neither tells. They may disagree. */
export function okRequests(completed: number | null, survey: ListedSurvey | null, notes: ImportNotes): number | null {
  if (survey !== null && completed !== null && completed !== survey.ok) {
    notes.disagreement(`the file says that ${completed} requests were ok, its lists hold ${survey.ok}`);
  }
  return completed ?? survey?.ok ?? null;
}

/** Whether there is no latency to be told of: of a run without a success the tools write zeros. */
export function hasNoLatencies(ok: number | null, notes: ImportNotes): boolean {
  if (ok !== 0) return false;
  notes.say('no request succeeded: the zeros that the tool writes for latencies are not taken');
  return true;
}
