import type { GrafanaTheme2 } from '@grafana/data';
import type { RunAnswer } from '../../exporter-api/types.ts';
import { paletteColor } from '../../panels/percentiles/draw/colors.ts';

/** A run of the overlay with the letter and the colour that it has everywhere on the page. */
export interface OverlayRun {
  letter: string;
  name: string;
  color: string;
  answer: RunAnswer;
}

export function overlayRuns(answers: readonly RunAnswer[], theme: GrafanaTheme2): OverlayRun[] {
  return answers.map((answer, i) => {
    const letter = String.fromCharCode(65 + i);
    const { scenario, load } = answer.summary;
    return { letter, name: `${letter} ${scenario} ${load}`, color: paletteColor(theme, i), answer };
  });
}
