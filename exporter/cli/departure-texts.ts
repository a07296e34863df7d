import type { DepartureLines } from '../run/run-group.ts';

/** The lines of departed runs, each once; `runs`: how many runs the command has. */
export function departureTexts(lines: DepartureLines, runs: number): readonly string[] {
  return [...lines].map(([line, about]) => (about > 1 ? `${line} (${about} of ${runs} runs)` : line));
}
