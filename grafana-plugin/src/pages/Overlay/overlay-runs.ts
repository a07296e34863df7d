import type { GrafanaTheme2 } from '@grafana/data';
import { runTitle } from '../../components/run-link.ts';
import type { RunAnswer } from '../../exporter-api/types.ts';
import { paletteColor } from '../../panels/percentiles/draw/colors.ts';

/** A compared run with its letter and color on the page. */
export interface OverlayRun {
  letter: string;
  name: string;
  color: string;
  answer: RunAnswer;
}

export function overlayRuns(answers: readonly RunAnswer[], theme: GrafanaTheme2): OverlayRun[] {
  return answers.map((answer, i) => {
    const letter = String.fromCharCode(65 + i);
    return { letter, name: `${letter} ${runTitle(answer.summary)}`, color: paletteColor(theme, i), answer };
  });
}
